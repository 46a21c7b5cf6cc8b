"""Failures that any program can meet, in one line: no memory, a dead process, a missing operator."""

import contextlib
from collections.abc import Iterator

from snippets.data_loading import is_worker_death, worker_death
from snippets.errors import RunError
from snippets.memory import is_out_of_memory
from snippets.missing_operators import missing_operator
from snippets.processes import lost_process


@contextlib.contextmanager
def explained_failures(out_of_memory: str) -> Iterator[None]:
    """Inside the block, turn a dead process, a missing operator and exhausted memory into RunError.

    `out_of_memory` is the text for the last, like "out of memory; lower --batch-size". Other errors pass.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        explained = explanation(error, out_of_memory)
        if explained is None:
            raise
        raise explained from error


def explanation(error: BaseException, out_of_memory: str) -> RunError | None:
    """Return a clearer error for `error`, or None when there is none."""
    if lost := lost_process(error):
        return lost
    if is_worker_death(error):
        return worker_death(error)
    return RunError(out_of_memory) if is_out_of_memory(error) else missing_operator(error)
