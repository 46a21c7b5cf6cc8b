"""Paths as users type them."""

from pathlib import Path

from snippets.framework.errors import UsageError


def expanded(typed: str | Path) -> Path:
    """Return the path with `~` or `~name` replaced by a home folder. Raises UsageError for an unknown one."""
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{typed}: there is no user {Path(typed).parts[0][1:]}; write the whole path"
        ) from None
