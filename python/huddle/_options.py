"""The option tables of the library as Python objects.

The tables are read when the package is imported: names, defaults, allowed values and help texts of
all keyword arguments come from them and are not repeated in Python.
"""
from __future__ import annotations

import ctypes
import dataclasses
import re
from ctypes import byref, c_void_p

import numpy as np

from . import _library
from ._library import Option, lib

_ANNOTATIONS = {Option.INT: "int", Option.SEED: "int", Option.REAL: "float", Option.BOOL: "bool",
                Option.RULE: "str", Option.RANGE: "int | tuple[int, int] | range | str",
                Option.NUMBERS: "Sequence[float] | str"}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One option of a method or a stage."""
    name: str
    kind: int
    default: object
    allowed: str
    help: str
    auto: bool
    choices: tuple

    @property
    def annotation(self):
        """The Python type of the option's values, as source text."""
        if self.kind != Option.CHOICE:
            takes_word = self.auto and self.kind != Option.RANGE
            return _ANNOTATIONS[self.kind] + (" | str" if takes_word else "")
        words = ", ".join(f'"{choice}"' for choice in self.choices)
        return f"Literal[{words}]" + (" | bool" if "true" in self.choices else "")

    @property
    def values(self):
        """The type of the option in the notation of numpydoc: int, float, {'a', 'b'}."""
        if self.kind == Option.BOOL:
            return "bool"
        if self.kind == Option.RANGE:
            return "int, 'auto', range or tuple of (int, int)"
        if self.kind == Option.NUMBERS:
            words = ", ".join(f"'{choice}'" for choice in self.choices)
            return f"{{{words}}} or sequence of float"
        if self.choices:
            words = ", ".join(f"'{choice}'" for choice in self.choices
                              if choice not in ("true", "false"))
            return f"{{{words}}}" + (" or bool" if "true" in self.choices else "")
        return _ANNOTATIONS[self.kind] + (" or 'auto'" if self.auto else "")

    @property
    def limits(self):
        """The smallest and the largest value as a sentence; empty if there is no limit to tell."""
        between = re.search(r"in \[(\S+), (\S+)\]", self.allowed)
        if between is not None:
            return f"From {between.group(1)} to {between.group(2)}."
        least = re.search(r">= (\S+?)(,|$)", self.allowed)
        return f"At least {least.group(1)}." if least is not None else ""


def _default(option):
    text = option.default_text.decode()
    if option.type == Option.BOOL:
        return text == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text


def _allowed(option):
    text = ctypes.create_string_buffer(512)
    lib.huddle_option_allowed(ctypes.byref(option), text, len(text))
    return text.value.decode()


def _choices(option):
    found, index = [], 0
    while option.choices and option.choices[index]:
        found.append(option.choices[index].decode())
        index += 1
    return tuple(found)


def table_parameters(table):
    """Return the options of a table, in its order."""
    found, index = [], 0
    while table[index].type != Option.END:
        option = table[index]
        found.append(Parameter(option.name.decode(), option.type, _default(option),
                               _allowed(option), option.help.decode(), option.allows_auto,
                               _choices(option)))
        index += 1
    return found


def stage_parameters(stage):
    """Return the options of a stage: knn, weight, connect, embed, shrink, path or
    refine."""
    return table_parameters(getattr(lib, f"huddle_{stage}_options_table")())


def method_parameters(method):
    """Return the options of a method."""
    handle = c_void_p()
    _library.check(lib.huddle_model_new(method.encode(), byref(handle)))
    try:
        return table_parameters(lib.huddle_model_options(handle))
    finally:
        lib.huddle_model_free(handle)


def stage_options(stage, values):
    """Return the options struct of a stage, with those of the values that its table contains."""
    options = getattr(lib, f"huddle_{stage}_defaults")()
    table = getattr(lib, f"huddle_{stage}_options_table")()
    known = {p.name for p in table_parameters(table)}
    for name, value in values.items():
        if name in known:
            _library.check(lib.huddle_options_set(table, byref(options), name.encode(),
                                                  option_text(value).encode()))
    return options


def python_value(text):
    """Convert a value of the info's options to that of a parameter: "2-20" becomes a tuple."""
    ends = re.fullmatch(r"(\d+)-(\d+)", text) if isinstance(text, str) else None
    return (int(ends.group(1)), int(ends.group(2))) if ends is not None else text


def option_text(value):
    """Convert a Python value to the text that the library parses."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, range) and value.step != 1:
        raise ValueError(f"{value} must have a step of 1")
    if isinstance(value, (list, np.ndarray)):
        return ",".join(map(str, value))
    if isinstance(value, (tuple, range)) and len(value) >= 2:
        return f"{value[0]}-{value[-1]}"
    return str(value)
