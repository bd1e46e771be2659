"""Signatures and documentation made from the library's option tables."""
from __future__ import annotations

import functools
import inspect
import textwrap

# What Python calls as scikit-learn does, with the type for stubs: the table has seed and n_threads.
COMMON = {
    "random_state": (0, "int, RandomState instance or None",
                     "Seed of everything random. The same seed gives the same labels."),
    "n_jobs": (-1, "int or None",
               "Threads; -1 for all the process may use. Results do not depend on it."),
    "engine": ("cpu", "str",
               "Where to compute: a name of huddle.engines(), followed by a colon and options if "
               "the engine takes any."),
    "progress": (None, "bool, callable or None",
                 "Called as progress(stage, done, total), returning True to cancel; True for a bar "
                 "(with tqdm if it is installed)."),
}


def _lines(name, allowed, default, text):
    yield f"{name} : {allowed}, default={default!r}"
    yield from textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")


def document(target, parameters):
    """Puts the tables' text where the docstring says {parameters}."""
    lines = []
    for p in parameters:
        lines += _lines(p.name, p.allowed, p.default, p.help[0].upper() + p.help[1:] + ".")
    for name, (default, allowed, text) in COMMON.items():
        lines += _lines(name, allowed, default, text)
    target.__doc__ = inspect.cleandoc(target.__doc__).replace("{parameters}", "\n".join(lines))


def keywords(parameters):
    """Keyword-only parameters for the options, then the common ones."""
    found = [inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default)
             for p in parameters]
    return found + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row[0])
                    for name, row in COMMON.items()]


def with_options(parameters):
    """Gives a function that takes **options the signature and the text of these options.

    A function that names an option itself has it in its own place.
    """
    def decorate(function):
        own = [p for p in inspect.signature(function).parameters.values()
               if p.kind is not inspect.Parameter.VAR_KEYWORD]
        named = {p.name for p in own}
        added = [p for p in parameters if p.name not in named]
        signature = inspect.Signature(own + keywords(added))

        @functools.wraps(function)
        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return function(*bound.args, **bound.kwargs)

        call.__signature__ = signature
        call.parameters = added
        document(call, added)
        return call

    return decorate
