"""What functions have in common: threads, and names of settings that have changed."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, TypeVar, cast

from . import _engine
from .errors import SettingError

Function = TypeVar("Function", bound=Callable[..., Any])


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Work that is begun within uses this many threads; all of them for None and -1."""
    if n_jobs is not None and (n_jobs == 0 or n_jobs < -1):
        raise SettingError(
            f"n_jobs is {n_jobs}; it must be a number of threads, or -1 or None for all of them"
        )
    before = _engine.limit_threads(0 if n_jobs in (None, -1) else int(n_jobs or 0))
    try:
        yield
    finally:
        _engine.limit_threads(before)


def renamed(**names: str) -> Callable[[Function], Function]:
    """Accepts the former names of keywords, with a warning: ``renamed(evaluations="max_evaluations")``."""

    def accept(function: Function) -> Function:
        @functools.wraps(function)
        def accepting(*given: Any, **keywords: Any) -> Any:
            for former in names.keys() & keywords.keys():
                new = names[former]
                if new in keywords:
                    raise TypeError(f"{function.__name__}() got both `{former}` and `{new}`; give `{new}`")
                former_name(f"the keyword `{former}` of {function.__name__}()", f"`{new}`")
                keywords[new] = keywords.pop(former)
            return function(*given, **keywords)

        return cast(Function, accepting)

    return accept


def former_name(former: str, new: str, stacklevel: int = 2) -> None:
    """Warns that a name is accepted for this release only."""
    warnings.warn(
        f"{former} is now {new}; the former name is accepted for one more release",
        FutureWarning,
        stacklevel=stacklevel + 1,
    )


#: Former names of the settings of a search.
SEARCH = {"evaluations": "max_evaluations", "seconds": "max_seconds"}
