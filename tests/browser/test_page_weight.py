"""Pages that a phone can carry: how many elements each has, and what it weighs compressed."""

import gzip
import re
from pathlib import Path

ELEMENTS = 1_500
LONGER = {  # pages that are lists or whole programs
    "reference/operators": 3_500,
    "project/coverage": 2_500,
    "facts/faq": 1_700,
    "project/glossary": 1_600,
    "examples/cifar-optimizers/how-it-works": 1_850,
    "examples/floorplan-diffusion/how-it-works": 1_700,
    "examples/indicator-transformer/how-it-works": 1_600,
    "examples/two-tower/how-it-works": 1_700,
    "examples/genomic-caduceus/how-it-works": 1_700,
}
KILOBYTES = 40  # of HTML; style sheets and scripts are about 80 more


def test_each_page_is_light(served_site: tuple[Path, str]) -> None:
    folder = served_site[0]
    heavy = {}
    for page in folder.rglob("index.html"):
        name = page.parent.relative_to(folder).as_posix().removeprefix("zh/")
        html = page.read_bytes()
        elements = len(re.findall(rb"<[a-z]", html))
        if elements > LONGER.get(name, ELEMENTS) or len(gzip.compress(html)) > KILOBYTES * 1000:
            heavy[page.parent.relative_to(folder).as_posix()] = elements, len(gzip.compress(html))
    assert not heavy
