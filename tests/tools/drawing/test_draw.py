"""Every picture is stored as its specification draws it; its texts can be read, and pages describe it."""

import re
from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from tools.drawing.charts import CELLS, FULL, LIGHT
from tools.drawing.draw import IMAGES, PICTURES, ROOT, pictures, showing, translated
from tools.drawing.page import COLOURS, FAMILY, FONT, PHONE, ROOMS, SHOWN, WIDTH, as_svg, picked, text_width

LANGUAGES = ("en", "zh")
FILES = [
    f"{name}-{scheme}.{language}.svg" for name in PICTURES for scheme in COLOURS for language in LANGUAGES
]
TEXT = "{http://www.w3.org/2000/svg}text"
CHINESE = re.compile("[\u3001-\u9fff\uff00-\uffef]")
NAMES = re.compile(
    r"[\d.%−–⁻⁰¹²³⁴-⁹]+|b?float\d+|softmax|obv|vwap|[a-z]+(_[a-z0-9]+)+|\w+\.py|SGD|R?AdamW?|Lion|Muon"
)  # of things


@pytest.fixture(params=FILES)
def svg(request):
    """Return a stored picture."""
    return (IMAGES / request.param).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_the_stored_picture_is_drawn_from_the_data(name):
    for file, text in pictures(name).items():
        assert (IMAGES / file).read_text(encoding="utf-8") == text, f"run python -m tools.drawing.draw {name}"


def test_no_other_picture_is_stored_and_none_is_large():
    assert {path.name for path in IMAGES.iterdir()} == {
        *FILES,
        "logo.svg",
        "favicon.svg",
        "open-in-colab.svg",
    }
    assert max((IMAGES / file).stat().st_size for file in FILES) < 60_000


def boxes(svg):
    """Yield size, text, left, top, right and bottom of every text of a picture."""
    for element in ElementTree.fromstring(svg).iter(TEXT):
        style = element.get("style")
        size = float(re.search(r"font-size: ([\d.]+)", style)[1])
        x, y = float(element.get("x")), float(element.get("y"))
        anchor = re.search(r"text-anchor: (\w+)", style)
        wide = text_width(element.text, size)
        before = {"start": 0, "middle": 0.5, "end": 1}[anchor[1] if anchor else "start"] * wide
        turn = re.match(r"rotate\((-?\d+) ", element.get("transform", "rotate(0 "))[1]
        across, above, below = (-before, wide - before), 0.8 * size, 0.2 * size
        left, top, right, bottom = {
            "0": (across[0], -above, across[1], below),
            "-90": (-above, -across[1], below, -across[0]),  # read from bottom to top
            "-270": (-below, across[0], above, across[1]),
        }[turn]
        yield size, element.text, x + left, y + top, x + right, y + bottom


def illegible(svg):
    """Name the texts of a picture that a phone shows too small, that are cut off, and that touch another."""
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    found = list(boxes(svg))
    wrong = [f"{text} is small" for size, text, *_ in found if size * min(1, PHONE / width) < 12]
    wrong += [
        f"{text} is cut off"
        for _, text, left, top, right, bottom in found
        if left < 0 or top < 0 or right > width or bottom > height
    ]
    return wrong + [
        f"{one[1]} touches {other[1]}"
        for one, other in combinations(found, 2)
        if one[2] < other[4] and other[2] < one[4] and one[3] < other[5] and other[3] < one[5]
    ]


def test_every_text_can_be_read_on_a_phone(svg):
    """Letters are the reader's own font, which has Chinese ones: they are text, and no outlines."""
    found = list(boxes(svg))
    assert len(found) >= 4
    assert svg.count(f"font-family: {FAMILY}") == svg.count("<text ") == len(found)
    wrong = illegible(svg)
    if f'width="{SHOWN}"' not in svg:  # the picture of the README is for wide screens
        assert all(text.endswith("is small") for text in wrong)
        wrong = []
    assert wrong == []


@pytest.mark.parametrize("file", FILES)
def test_every_word_is_in_the_language_of_the_picture(file):
    root = ElementTree.parse(IMAGES / file)
    for text in [element.text for element in root.iter(TEXT)]:
        if ".en." in file:
            assert not CHINESE.search(text), text
        else:
            assert CHINESE.search(text) or NAMES.fullmatch(text), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_is_on_a_page(language):
    described = {}
    for page in (ROOT / "docs" / language).rglob("*.md"):
        for alternative, file in re.findall(
            r"!\[([^]]+)\]\([^)]*/images/([\w.-]+)#only-", page.read_text("utf-8")
        ):
            described.setdefault(file, set()).add(alternative)
    readme = (ROOT / {"en": "README.md", "zh": "README.zh.md"}[language]).read_text(encoding="utf-8")
    dark, light, alternative = re.search(
        r'srcset="[^"]*/images/([^"]+)">\s*<img src="[^"]*/images/([^"]+)"[^>]* alt="([^"]+)"', readme
    ).groups()
    described |= {dark: {alternative}, light: {alternative}}
    assert described.keys() == {file for file in FILES if f".{language}." in file}
    for name in PICTURES:
        light, dark = (described[f"{name}-{scheme}.{language}.svg"] for scheme in ("light", "dark"))
        assert light == dark and all(len(words) >= 15 for words in light)


def drawn(*texts):
    """Return a picture 100 pixels high with texts: x, y from below, what, and how it is placed."""
    figure = Figure(figsize=(WIDTH / 72, 100 / 72))
    for x, y, text, how in texts:
        figure.text(x / WIDTH, y / 100, text, size=FONT, **how)
    return translated(as_svg(figure), {"three": "中文字"})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([(10, 80, "fine", {})], []),
        ([(350, 80, "beyond", {})], ["beyond is cut off"]),
        ([(10, 95, "above", {})], ["above is cut off"]),
        ([(10, 80, "one", {}), (30, 80, "two", {})], ["one touches two"]),
        ([(40, 50, "three", {}), (80, 50, "two", {})], ["中文字 touches two"]),
        (
            [(10, 50, "one", {"rotation": 270, "rotation_mode": "anchor"}), (8, 38, "two", {})],
            ["one touches two"],
        ),
    ],
)
def test_texts_that_nobody_can_read_are_found(texts, expected, monkeypatch):
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    svg = drawn(*texts)
    assert illegible(svg) == expected
    assert illegible(svg.replace(f"0 0 {WIDTH} ", "0 0 760 "))[0].endswith("is small")


def channels(colour):
    """Return red, green and blue of #rrggbb."""
    return bytes.fromhex(colour[1:])


def contrast(*colours):
    """Return the contrast ratio of two colours, 1 to 21, by WCAG 2."""
    luminances = []
    for colour in colours:
        parts = [channel / 255 for channel in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        luminances.append(
            sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        )
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


@pytest.mark.parametrize("colours", COLOURS.values(), ids=COLOURS)
def test_marks_and_text_have_contrast(colours):
    pairs = [(name, "paper") for name in ("blue", "orange", "grey", "ink")] + [("ink", "box")]
    for front, behind in pairs:
        assert contrast(channels(colours[front]), channels(colours[behind])) >= 4.5, (front, behind)
    assert contrast(b"\0\0\0", b"\xff\xff\xff") == pytest.approx(21)
    assert contrast(b"www", b"\xff\xff\xff") == pytest.approx(4.48, abs=0.005)  # the grey #777777 just fails


@pytest.mark.parametrize("scheme", COLOURS)
def test_names_and_shares_can_be_read_on_their_colours(scheme):
    colours = COLOURS[scheme]
    for room in ROOMS[scheme][:-1]:
        assert contrast(channels(room), channels(colours["room_ink"])) >= 4.5
    for cell in CELLS.values():
        for share in range(101):
            pair = zip(channels(colours["cell"]), channels(cell), strict=True)
            shown = bytes(round(low + share / 100 * (high - low)) for low, high in pair)
            ink = LIGHT if share / 100 > FULL else colours["on_cell"]
            assert contrast(shown, channels(ink)) >= 4.4, (cell, share)


def test_the_way_into_data():
    data = {"a": [{"b": {"c": 1}, "d": 2}, {"b": {"c": 3}, "d": 4}]}
    assert picked(data, ["a", {"b.c": 3}, "d"]) == 4
    assert picked(data, ["a", 0, "b.c"]) == 1
    with pytest.raises(ValueError, match="not enough"):
        picked(data, ["a", {"d": 5}])


def test_pictures_of_a_recorded_run_are_known():
    assert showing({"recorded/cifar_default_metrics.jsonl"}) == ["cifar-curves"]
    assert "systems" in showing({"results/cifar_digits.yaml"})
