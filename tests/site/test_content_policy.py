"""Tests of docs/hooks/content_policy.py. That the pages work under it is tested in a browser."""

import re
from pathlib import Path

from docs.hooks.content_policy import policy_of, write_policy


def test_the_policy_names_the_scripts_of_all_pages(tmp_path: Path) -> None:
    others = '<script src="a.js"></script><script type="application/json">{{}}</script>'
    page = f'<meta charset="utf-8"><script>{{}}</script>{others}'
    for name, script in (("index.html", "alert(1)"), ("zh.html", "")):
        (tmp_path / name).write_text(page.format(script), encoding="utf-8")
    write_policy(tmp_path)
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert all(text.index(policy_of({"alert(1)", ""})) < text.index("<script") for text in texts)


def test_hashes_are_those_that_browsers_compute() -> None:
    # of the empty text, as in RFC 6234's SHA-256 and every browser's message about it
    assert re.findall("'sha256-([^']+)'", policy_of({""})) == ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]


def test_built_pages_have_one_policy(built_site: Path) -> None:
    tags = [
        re.findall(
            '<meta http-equiv="Content-Security-Policy" content="([^"]+)"', page.read_text(encoding="utf-8")
        )
        for page in built_site.rglob("*.html")
    ]
    assert {len(found) for found in tags} == {1}
    assert len({found[0] for found in tags}) == 1
