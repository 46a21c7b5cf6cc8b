"""Tests of docs/hooks/folded_sections.py."""

from docs.hooks.folded_sections import folded

LINK = '<a class="headerlink" href="#claims">¶</a>'
PAGE = (
    f'<h2 id="use">Use</h2><p>a</p><h2 id="claims">C{LINK}</h2><p>b</p><h3 id="x">X</h3>'
    '<h2 id="evidence">E</h2><p>c</p>'
)


def test_claims_and_evidence_are_folded_and_nothing_else() -> None:
    start = '<details class="folded-section"><summary><h2 id='
    assert folded(PAGE) == (
        f'<h2 id="use">Use</h2><p>a</p>{start}"claims">C</h2></summary><p>b</p><h3 id="x">X</h3></details>\n'
        f'{start}"evidence">E</h2></summary><p>c</p></details>\n'
    )
