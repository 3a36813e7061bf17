"""Progress bars, when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import MissingPackageError


@contextmanager
def bar(asked: bool, total: int | None, unit: str) -> Iterator[Callable[[int], object] | None]:
    """Something to be called with the number of further steps; nothing if no bar is asked for."""
    if not asked:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise MissingPackageError("progress=True needs tqdm; pip install tqdm, or leave it out") from None
    with tqdm(total=total, unit=unit) as shown:
        yield shown.update
