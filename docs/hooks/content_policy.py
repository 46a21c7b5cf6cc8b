"""Tell browsers what the pages may load: files of this site, and the scripts that stand in them now.

The policy is a meta tag, because hosts of static files give no headers. It is the same on all pages: the
theme brings parts of the next page into the present one, whose policy stays in force.
"""

import base64
import hashlib
import re
from pathlib import Path

CHARSET = '<meta charset="utf-8">'
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)  # one with a source or a type is a file or data


def write_policy(folder: Path) -> None:
    """Put the policy into each page of a site."""
    texts = {path: path.read_bytes().decode() for path in sorted(folder.rglob("*.html"))}
    policy = policy_of({script for text in texts.values() for script in _SCRIPT.findall(text)})
    for path, text in texts.items():
        tag = f'{CHARSET}<meta http-equiv="Content-Security-Policy" content="{policy}">'
        path.write_bytes(text.replace(CHARSET, tag, 1).encode())


def policy_of(scripts: set[str]) -> str:
    """Return the policy that lets these inline scripts run, and no others.

    Styles of elements are allowed: Markdown's tables align their cells with them.
    """
    hashes = sorted(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'self'; script-src 'self' {allowed}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'"
    )
