"""Tests of docs/hooks/light_code.py: coloured code in few elements, its text as before."""

import sys
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/hooks"))
from light_code import lighter


def test_few_elements_and_the_colours_that_matter() -> None:
    html = highlight('def pick(x): return f"{x.a}" + "b"  # why', PythonLexer(), HtmlFormatter(nowrap=True))
    light = lighter(html)
    assert light == (
        '<span class="k">def</span> <span class="nf">pick</span>(x): <span class="k">return</span> '
        '<span class="sa">f</span><span class="s2">"</span><span class="si">{</span>x.a'
        '<span class="si">}</span><span class="s2">"</span> + <span class="s2">"b"</span>'
        '  <span class="c1"># why</span>\n'
    )
