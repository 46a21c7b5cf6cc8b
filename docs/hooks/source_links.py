"""Links to what was read: threads of trackers, and texts."""

from collections.abc import Iterable, Sequence
from typing import Any

TRACKER = "https://github.com/"
REPOSITORY = "pytorch/pytorch"  # of the sources that name none


def thread(source: Sequence[Any]) -> str:
    """Return a link to a thread: its kind, its number and, elsewhere than at PyTorch, its repository."""
    kind, number, *elsewhere = source
    repository = elsewhere[0] if elsewhere else REPOSITORY
    name = f"{elsewhere[0]}#{number}" if elsewhere else f"#{number}"
    return f"[{name}]({TRACKER}{repository}/{'pull' if kind == 'pull' else 'issues'}/{number})"


def links(sources: Iterable[Sequence[Any]]) -> list[str]:
    """Return links to threads, and to texts that are named by their host, on GitHub by their repository."""
    return [text(source[1]) if source[0] == "text" else thread(source) for source in sources]


def text(address: str) -> str:
    """Return a link to a text."""
    parts = address.removeprefix("https://").rstrip("/").split("/")
    return f"[{'/'.join(parts[1:3]) if parts[0] == 'github.com' else parts[0]}]({address})"
