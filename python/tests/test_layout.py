"""The structs and constants of the binding are those of the C headers."""
import ctypes
import pathlib
import shutil
import subprocess

import pytest

from huddle import _library, _read, _report, datasets

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRUCTS = {
    "huddle_points": _library.Points, "huddle_dense": _library.Dense, "huddle_csr": _library.Csr,
    "huddle_array": _library.Array, "huddle_option": _library.Option,
    "huddle_method_text": _library.MethodText,
    "huddle_engine_text": _library.EngineText, "huddle_scores": _library.Scores,
    "huddle_knn_options": _library.KnnOptions, "huddle_neighbors": _library.Neighbors,
    "huddle_weight_options": _library.WeightOptions, "huddle_scale": _library.Scale,
    "huddle_connect_options": _library.ConnectOptions,
    "huddle_embed_options": _library.EmbedOptions, "huddle_embedding": _library.Embedding,
    "huddle_embed_info": _library.EmbedInfo, "huddle_shrink_options": _library.ShrinkOptions,
    "huddle_shrunk": _library.Shrunk, "huddle_shrink_info": _library.ShrinkInfo,
    "huddle_path_options": _library.PathOptions, "huddle_path_level": _library.PathLevel,
    "huddle_path_fusion": _library.PathFusion, "huddle_path": _library.Path,
    "huddle_path_choice": _library.PathChoice, "huddle_graph_scores": _library.GraphScores,
    "huddle_refine_options": _library.RefineOptions, "huddle_refine_start": _library.RefineStart,
    "huddle_refine_trial": _library.RefineTrial, "huddle_refine_info": _library.RefineInfo, "huddle_data": datasets._Data,
    "huddle_column": datasets._Column, "huddle_format": _read._Format,
    "huddle_read_options": datasets._ReadOptions,
    "huddle_report_options": _report._ReportOptions, "huddle_report_command": _report._Command,
}


def test_every_struct_is_listed():
    defined = [value for module in (_library, datasets, _read, _report)
               for value in vars(module).values()
               if isinstance(value, type) and issubclass(value, ctypes.Structure)
               and value is not ctypes.Structure]
    assert set(defined) == set(STRUCTS.values())


def test_layout(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    lines = ["#include <huddle/huddle.h>", "#include <huddle/report.h>", "#include <stdio.h>",
             "int main(void) {"]
    expected = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, *_ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                         f"sizeof((({name} *)0)->{field}));")
            place = getattr(struct, field)
            expected.append(f"{name}.{field} {place.offset} {place.size}")
    (tmp_path / "layout.c").write_text("\n".join(lines + ["return 0;", "}", ""]))
    subprocess.run(["cc", f"-I{ROOT / 'include'}", str(tmp_path / "layout.c"), "-o",
                    str(tmp_path / "layout")], check=True)
    found = subprocess.run([str(tmp_path / "layout")], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    assert found == expected


def test_enumerations(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    values = {f"HUDDLE_{name}": getattr(_library, name) for name in (
        "OK", "INVALID", "NO_MEMORY", "IO", "FORMAT", "UNSUPPORTED", "NUMERIC", "CANCELLED",
        "INTERNAL", "AUTO")}
    for prefix, struct in (("OPTION", _library.Option), ("ARRAY", _library.Array)):
        values.update({f"HUDDLE_{prefix}_{name}": value for name, value in vars(struct).items()
                       if name.isupper() and isinstance(value, int)})
    assert len(values) == 24
    checks = [f'_Static_assert({name} == {value}, "{name}");' for name, value in values.items()]
    (tmp_path / "values.c").write_text("\n".join(["#include <huddle/huddle.h>", *checks, ""]))
    subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}",
                    str(tmp_path / "values.c")], check=True)
