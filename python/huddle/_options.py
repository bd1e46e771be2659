"""The library's option tables as Python sees them: one description, read at import."""
from __future__ import annotations

import ctypes
import dataclasses
from ctypes import byref, c_void_p

from . import _library
from ._library import Option, lib


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One option of a method."""
    name: str
    kind: int
    default: object
    allowed: str
    help: str
    auto: bool
    choices: tuple


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
    """The options of a table, in its order."""
    found, index = [], 0
    while table[index].type != Option.END:
        option = table[index]
        found.append(Parameter(option.name.decode(), option.type, _default(option),
                               _allowed(option), option.help.decode(), option.allows_auto,
                               _choices(option)))
        index += 1
    return found


def stage_parameters(stage):
    """The options of a stage: knn, weight, connect, embed, shrink or path."""
    return table_parameters(getattr(lib, f"huddle_{stage}_options_table")())


def parameters(method):
    """The options of a method."""
    handle = c_void_p()
    _library.check(lib.huddle_model_new(method.encode(), byref(handle)))
    try:
        return table_parameters(lib.huddle_model_options(handle))
    finally:
        lib.huddle_model_free(handle)


def stage_options(stage, values):
    """The options struct of a stage with those values set that its table knows."""
    options = getattr(lib, f"huddle_{stage}_defaults")()
    table = getattr(lib, f"huddle_{stage}_options_table")()
    known = {p.name for p in table_parameters(table)}
    for name, value in values.items():
        if name in known:
            _library.check(lib.huddle_options_set(table, byref(options), name.encode(),
                                                  as_text(value).encode()))
    return options


def as_text(value):
    """A Python value as the text that the library reads."""
    if isinstance(value, (bool,)) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, range) and value.step != 1:
        raise ValueError(f"{value} is not a range of all whole numbers between two")
    if isinstance(value, (tuple, range)) and len(value) >= 2:
        return f"{value[0]}-{value[-1]}"
    return str(value)
