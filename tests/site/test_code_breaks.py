"""Tests of docs/hooks/code_breaks.py."""

from docs.hooks.code_breaks import with_breaks


def test_names_in_tables_break_behind_their_parts() -> None:
    name = "<code>examples/two_tower/train.py</code>"
    assert with_breaks(f'<td style="x">{name}</td>') == (
        '<td style="x"><code>examples/<wbr>two_<wbr>tower/<wbr>train.<wbr>py</code></td>'
    )
    for kept in (f"<p>{name}</p>", "<td><code>a.b</code></td>", f"<td>{'a_b' * 9}</td>"):
        assert with_breaks(kept) == kept
