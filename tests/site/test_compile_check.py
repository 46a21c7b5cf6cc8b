"""What the page about torch.compile says without figures holds for what was measured."""

from origins import load

ENTRIES = load("compile_check")


def test_what_the_page_says_without_figures_holds():
    hard = []
    for entry in ENTRIES:
        assert entry["date"] == ENTRIES[0]["date"]
        assert {row["comparisons"] for row in entry["rows"]} == {ENTRIES[0]["rows"][0]["comparisons"]}
        assert all(row["rejected"] == 0 for row in entry["rows"])
        for row in entry["rows"]:
            if row["network"] == "resnet" and row["format"] != "fp32":
                hard.append(row)
            else:
                assert {row["doubled"], row["zero"], row["reversed"]} == {row["gradients"]}
    assert all(row["zero"] == row["reversed"] for row in hard)
    assert len({row["gradients"] for row in hard}) == 1
