"""What a page says with and without the address of the project's repository (environment variable REPO_URL).

A passage for one of the two cases stands between comments, each alone on its line; either may be left out:

    <!-- with repository -->
    <!-- without repository -->
    <!-- end repository -->

In what is shown with the address, in text and in included commands, `$REPO_URL` stands for it.
"""

import os
import re

PLACE = "$REPO_URL"
PASSAGE = re.compile(r"<!-- (?P<name>(?:with|without|end) repository) -->")
_AFTER = {  # what may follow each mark
    "end repository": {"with repository", "without repository"},
    "with repository": {"without repository", "end repository"},
    "without repository": {"end repository"},
}


def repository_address() -> str:
    """Return the address of the repository, without a slash at its end; empty when it is not known."""
    return os.environ.get("REPO_URL", "").rstrip("/")


def passages_for(markdown: str, address: str) -> str:
    """Return a page's Markdown with the passages for this address. Raises ValueError for a wrong mark."""
    kept, mark = [], "end repository"
    for number, line in enumerate(markdown.split("\n"), start=1):
        found = PASSAGE.fullmatch(line.strip())
        if found and found["name"] not in _AFTER[mark]:
            raise ValueError(f"line {number}: {line.strip()!r} cannot follow <!-- {mark} -->")
        if found:
            mark = found["name"]
        elif mark == "end repository" or (mark == "with repository") == bool(address):
            kept.append(line)
    if mark != "end repository":
        raise ValueError(f"<!-- {mark} --> needs <!-- end repository -->")
    return "\n".join(kept)


def with_address(text: str, address: str) -> str:
    """Return text or code with the address in the place of `$REPO_URL`. Raises ValueError without one."""
    if PLACE in text and not address:
        raise ValueError(
            f"{PLACE} is shown also when it is not known: put it behind <!-- with repository -->"
        )
    return text.replace(f'"{PLACE}"', address).replace(PLACE, address)
