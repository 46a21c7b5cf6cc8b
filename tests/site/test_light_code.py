"""Tests of docs/hooks/light_code.py: coloured code in few elements, its text as before."""

import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from docs.hooks.light_code import lighter

SOURCE = 'def pick(x): return f"{x.a}" + "b" if x < 1 else "a & b"  # why\n'
COLOURED = highlight(SOURCE, PythonLexer(), HtmlFormatter(nowrap=True))


def test_few_elements_and_the_colours_that_matter() -> None:
    light = lighter(COLOURED)
    assert light.startswith(
        '<span class="k">def</span> <span class="nf">pick</span>(x): <span class="k">return'
    )
    assert ' + <span class="s2">&quot;b&quot;</span> <span class="k">if</span> x &lt; 1 ' in light.replace(
        '"b"', "&quot;b&quot;"
    )
    assert light.endswith('<span class="c1"># why</span>\n')
    assert light.count("<span") < 0.6 * COLOURED.count("<span")


def test_the_text_stays() -> None:
    assert re.sub("<[^>]+>", "", lighter(COLOURED)) == re.sub("<[^>]+>", "", COLOURED)
