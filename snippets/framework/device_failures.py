"""What can fail while a device computes, as one line that says what to do."""

import contextlib
from collections.abc import Iterator

from snippets.data_loading import is_worker_death, worker_death
from snippets.framework.errors import RunError
from snippets.memory import is_out_of_memory
from snippets.missing_operators import missing_operator


@contextlib.contextmanager
def explained_failures(out_of_memory: str) -> Iterator[None]:
    """Raise a RunError for a worker that died, an operator that is missing, and memory that ran out.

    `out_of_memory` is the text for the last, like "out of memory; lower --batch-size". Others pass unchanged.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if is_worker_death(error):
            raise worker_death(error) from None
        if explained := missing_operator(error):
            raise explained from None
        if not is_out_of_memory(error):
            raise
        raise RunError(out_of_memory) from error
