"""licences.py WHEEL FOLDER: write the wheel to a folder, with the licences of what it contains.

A wheel that auditwheel has repaired contains libraries of Debian packages. Their copyright files,
which also name where their source is from, and the full texts of the GNU and Apache licences become
part of the wheel, and its metadata states all licences that apply. A library that the table below
does not know is refused.
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

from packaging.metadata import Metadata

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
# Of each library: its Debian package and its licences, as SPDX expressions.
LIBRARIES = {
    "libopenblas": ("libopenblas0-pthread", {"BSD-3-Clause"}),
    "liblapacke": ("liblapacke", {"BSD-3-Clause"}),
    "libtmglib": ("libtmglib3", {"BSD-3-Clause"}),
    "libarpack": ("libarpack2", {"BSD-3-Clause"}),
    "libsuitesparseconfig": ("libsuitesparseconfig5", {"BSD-3-Clause"}),
    "libamd": ("libamd2", {"BSD-3-Clause"}),
    "libcamd": ("libcamd2", {"BSD-3-Clause"}),
    "libcolamd": ("libcolamd2", {"BSD-3-Clause"}),
    "libccolamd": ("libccolamd2", {"BSD-3-Clause"}),
    # The supernodal module is GPL, the others that Huddle uses are LGPL.
    "libcholmod": ("libcholmod3", {"LGPL-2.1-or-later", "GPL-2.0-or-later"}),
    "libmetis": ("libmetis5", {"Apache-2.0"}),
    "libgfortran": ("libgfortran5", {GCC}),
    "libgomp": ("libgomp1", {GCC}),
    "libquadmath": ("libquadmath0", {"LGPL-2.1-or-later"}),
    "libgcc_s": ("libgcc-s1", {GCC}),
    "libjansson": ("libjansson4", {"MIT"}),
    "libpng16": ("libpng16-16", {"libpng-2.0"}),
    "libjpeg": ("libjpeg62-turbo", {"IJG", "BSD-3-Clause", "Zlib"}),
    "libbz2": ("libbz2-1.0", {"bzip2-1.0.6"}),
    "liblzma": ("liblzma5", {"0BSD"}),
    "libzstd": ("libzstd1", {"BSD-3-Clause"}),
}
_OVERVIEW = """\
Huddle is licensed under the MIT licence (LICENSE). This wheel also contains libraries of Debian
packages. CHOLMOD's supernodal module is licensed under the GPL, so that the wheel as a whole is
distributed under the terms of the GPL, version 3 or later. Without CHOLMOD, which makes some
computations several times slower, it is built from the source distribution:

    CMAKE_ARGS=-DHUDDLE_GPL=OFF pip install huddle_clustering-VERSION.tar.gz

Library: licences; Debian source package and version (the source is at snapshot.debian.org)
"""
COMMON = pathlib.Path("/usr/share/common-licenses")
COMMON_TEXTS = ("GPL-2", "GPL-3", "LGPL-2.1", "Apache-2.0")


def bundled_libraries(names):
    """Return the names of the libraries in the wheel's folder .libs, without hash and version."""
    found = set()
    for name in names:
        match = re.match(r"[^/]+\.libs/(.+)-[0-9a-f]{8}\.so", name)
        if match:
            found.add(match[1])
    unknown = sorted(found - set(LIBRARIES))
    if unknown:
        sys.exit(f"licences.py: no licence is known for {', '.join(unknown)}")
    if not found:
        sys.exit("licences.py: the wheel contains no libraries; was it repaired by auditwheel?")
    return sorted(found)


def source_of(package):
    """Return the name and the version of the source package of a Debian package."""
    fields = "${source:Package} ${source:Version}"
    return subprocess.run(["dpkg-query", "-W", "-f", fields, package], check=True,
                          capture_output=True, text=True).stdout.split()


def licence_texts(libraries):
    """Return the files to add, by their name in licenses/, and the expression."""
    expression, files = {"MIT"}, {}
    overview = [_OVERVIEW]
    for library in libraries:
        package, licences = LIBRARIES[library]
        expression |= licences
        source, version = source_of(package)
        overview.append(f"{library}: {' AND '.join(sorted(licences))}; {source} {version}")
        files[f"bundled/{source}.txt"] = pathlib.Path(
            f"/usr/share/doc/{package}/copyright").read_bytes()
    joined = b"".join(files.values())
    for name in COMMON_TEXTS:
        if re.search(rf"/common-licenses/{name}\b".encode(), joined) or "GPL" in name:
            files[f"bundled/{name}.txt"] = (COMMON / name).read_bytes()
    files["bundled/README.txt"] = ("\n".join(overview) + "\n").encode()
    return files, " AND ".join(sorted(expression, key=lambda text: (text != "MIT", text)))


def with_licences(metadata, names, expression):
    """Return the metadata with the expression and the names of the files."""
    head, blank, description = metadata.partition("\n\n")
    lines = [line for line in head.split("\n")
             if not line.startswith(("Metadata-Version:", "License:", "License-Expression:",
                                     "Dynamic: license"))]
    return "\n".join(["Metadata-Version: 2.4", *lines, f"License-Expression: {expression}",
                      *(f"License-File: {name}" for name in names)]) + blank + description


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def main(wheel, folder):
    source = zipfile.ZipFile(wheel)
    infos = [info for info in source.infolist() if not info.is_dir()]
    contents = {info.filename: source.read(info) for info in infos}
    modes = {info.filename: info.external_attr for info in infos}
    metadata = next(name for name in contents if name.endswith(".dist-info/METADATA"))
    place = metadata.rpartition("/")[0]
    files, expression = licence_texts(bundled_libraries(contents))
    contents[metadata] = with_licences(contents[metadata].decode(), sorted(files),
                                       expression).encode()
    Metadata.from_email(contents[metadata], validate=True)  # as PyPI does
    contents.update({f"{place}/licenses/{name}": text for name, text in files.items()})
    contents.pop(f"{place}/RECORD")
    lines = [record_line(name, content) for name, content in contents.items()]
    contents[f"{place}/RECORD"] = "\n".join([*lines, f"{place}/RECORD,,", ""]).encode()
    target = pathlib.Path(folder) / pathlib.Path(wheel).name
    partial = target.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = modes.get(name, 0o100644 << 16)
            archive.writestr(info, content)
    partial.rename(target)
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
