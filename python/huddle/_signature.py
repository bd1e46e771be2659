"""Signatures and docstrings made from the option tables of the library."""
from __future__ import annotations

import ctypes
import functools
import inspect
import textwrap
from typing import NamedTuple

from ._library import lib


class CommonParameter(NamedTuple):
    """A parameter of every estimator and function that is not in an option table."""
    default: object
    values: str
    annotation: str
    help: str


# scikit-learn's names for the library's seed and n_threads, and the other settings of a context.
COMMON = {
    "random_state": CommonParameter(
        0, "int, RandomState instance or None", "int | np.random.RandomState | None",
        "Seed of the random number generator. Equal seeds give equal labels."),
    "n_jobs": CommonParameter(
        -1, "int or None", "int | None",
        "Number of threads; -1 uses all that are available to the process. Results do not depend "
        "on it."),
    "engine": CommonParameter(
        "cpu", "str or mpi4py.MPI.Comm", "Any",
        "Compute engine: a name from huddle.engines(), followed by a colon and options if the "
        "engine takes any. With 'mpi' or a communicator of mpi4py, every process passes its own "
        "rows."),
    "progress": CommonParameter(
        None, "bool, callable or None", "bool | Callable[[str, float, float], object] | None",
        "A function that is called as progress(stage, done, total) and returns True to cancel; "
        "True shows a progress bar (of tqdm if it is installed)."),
    "verbose": CommonParameter(
        0, "int", "int",
        "What to print: 0 nothing; 1 the stages as they begin, and what was decided; 2 also how "
        "far each stage is and what the library notes. The same goes to the logger 'huddle'."),
}


# Those of an estimator.
ESTIMATOR = {
    **COMMON,
    "memory": CommonParameter(
        None, "int, str or None", "int | str | None",
        "Most memory that a fit may use, with what the process has already: bytes, or a text such "
        "as '4G'; None uses what the system has available. A fit that would need more uses leaner "
        "algorithms, or raises MemoryError before it begins."),
}


def _entry(name, values, default, text):
    yield f"{name} : {values}, default={default!r}"
    yield from textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")


def parameters_text(parameters, others=COMMON):
    """Return the "Parameters" section of a docstring: the options, then the other parameters."""
    lines = []
    for p in parameters:
        text = f"{p.help[0].upper()}{p.help[1:]}. {p.limits}".rstrip()
        lines += _entry(p.name, p.values, p.default, text)
    for name, common in others.items():
        lines += _entry(name, common.values, common.default, common.help)
    return "\n".join(lines)


def keyword_parameters(parameters, others=COMMON):
    """Return keyword-only parameters of a signature: the options, then the other parameters."""
    described = [(p.name, p.default, p.annotation) for p in parameters]
    described += [(name, common.default, common.annotation) for name, common in others.items()]
    return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                              annotation=annotation) for name, default, annotation in described]


# Names of the tool and of other packages for parameters that have another name here.
_OTHER_NAMES = {"seed": "random_state", "n_threads": "n_jobs", "threads": "n_jobs",
                "n_components": "n_clusters", "k": "n_clusters"}
_SUGGEST_DISTANCE = 3  # HUDDLE_SUGGEST_DISTANCE


def suggestion(word, names):
    """Return "; did you mean 'name'?" for the most similar name, "" if none is similar."""
    if _OTHER_NAMES.get(word) in names:
        return f"; did you mean '{_OTHER_NAMES[word]}'?"
    distance, nearest = ctypes.c_int(_SUGGEST_DISTANCE), None
    for name in names:
        found = ctypes.c_char_p()
        lib.huddle_suggest_name(word.encode(), name.encode(), ctypes.byref(distance),
                                ctypes.byref(found))
        nearest = name if found.value is not None else nearest
    return f"; did you mean '{nearest}'?" if nearest is not None else ""


def bind_arguments(signature, name, args, kwargs):
    """Bind arguments as signature.bind() does; an unknown keyword gets a suggestion."""
    for keyword in kwargs:
        if keyword not in signature.parameters:
            raise TypeError(f"{name}() got an unexpected keyword argument '{keyword}'"
                            + suggestion(keyword, list(signature.parameters)))
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None
    bound.apply_defaults()
    return bound


def with_options(parameters):
    """Give a function that takes **options the signature and the help texts of these options.

    An option that the function names itself keeps its place in the function's signature. The text
    {parameters} in the docstring is replaced by the descriptions of the others.
    """
    def decorate(function):
        declared = inspect.signature(function)
        own = [p for p in declared.parameters.values()
               if p.kind is not inspect.Parameter.VAR_KEYWORD]
        named = {p.name for p in own}
        added = [p for p in parameters if p.name not in named]
        signature = declared.replace(parameters=own + keyword_parameters(added))

        @functools.wraps(function)
        def call(*args, **kwargs):
            bound = bind_arguments(signature, function.__name__, args, kwargs)
            return function(*bound.args, **bound.kwargs)

        call.__signature__ = signature
        call.__doc__ = inspect.cleandoc(function.__doc__).replace("{parameters}",
                                                                  parameters_text(added))
        return call

    return decorate
