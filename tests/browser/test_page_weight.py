"""Pages that a phone can carry: how many elements each has, and what it weighs compressed."""

import gzip
import re
from pathlib import Path

ELEMENTS = 1_500
LONGER = {  # pages that are lists or whole programs, by the end of their address
    "reference/operators": 4_000,
    "project/coverage": 3_300,
    "facts/claims": 3_500,
    "facts/faq": 1_880,
    "project/glossary": 1_850,
    "guides/testing-without-a-mac": 1_550,
    "cifar-optimizers/how-it-works": 2_350,  # with the parts that all systems share
    "how-it-works": 1_850,
}
KILOBYTES = 42  # of HTML; style sheets and scripts are about 80 more


def test_each_page_is_light(served_site: tuple[Path, str]) -> None:
    folder = served_site[0]
    heavy = {}
    for page in folder.rglob("index.html"):
        name = page.parent.relative_to(folder).as_posix()
        html = page.read_bytes()
        elements = len(re.findall(rb"<[a-z]", html))
        most = next((number for end, number in LONGER.items() if name.endswith(end)), ELEMENTS)
        if elements > most or len(gzip.compress(html)) > KILOBYTES * 1000:
            heavy[name] = elements, len(gzip.compress(html))
    assert not heavy
