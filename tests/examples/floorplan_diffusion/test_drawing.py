"""Pictures of plans: what is in them, that all eyes can read it, and that equal plans give equal bytes."""

import io
import re
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import numpy
import pytest
from PIL import Image

from examples.floorplan_diffusion.drawing import DARK, ENGLISH, FONT, LIGHT, WIDTH, Corners, gallery
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.picture import Area, Picture, Slice, Strokes, Text, text_width
from examples.floorplan_diffusion.plans import KINDS, OUTSIDE, Plan
from examples.floorplan_diffusion.room_names import place_for_name
from examples.floorplan_diffusion.rooms import find_rooms

SVG = "{http://www.w3.org/2000/svg}"
PLANS = list(generate_plans(6, 0))
EMPTY = Plan(numpy.zeros((0, 2)), numpy.zeros((0, 7), bool), numpy.zeros((0, 2), int))
PAPER = {LIGHT: "#fdfdfb", DARK: "#12181b"}  # the site's background
BOTH = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])


def drawn(picture):
    return ElementTree.fromstring(picture.svg())


def texts(picture):
    return [element.text for element in drawn(picture).iter(f"{SVG}text")]


@BOTH
def test_every_room_has_the_colour_of_its_kind(colours):
    tree = drawn(gallery(PLANS, 3, dark=colours is DARK))
    rooms = [room for plan in PLANS for room in find_rooms(plan)]
    polygons = list(tree.iter(f"{SVG}polygon"))
    assert len(polygons) == len(rooms) > 25
    assert [polygon.get("fill") for polygon in polygons] == [colours.kinds[room.kind] for room in rooms]
    assert [polygon[0].text for polygon in polygons] == [ENGLISH.kinds[room.kind] for room in rooms]


def test_walls_and_corners_lie_where_the_plan_has_them():
    """A plan as wide as the picture, without the margins: a pixel is a pixel."""
    plan = PLANS[0]
    wide = float(numpy.ptp(plan.corners[:, 0]))
    walls, corners = list(drawn(gallery([plan], 1, width=wide + 20)).iter(f"{SVG}path"))[:2]
    assert (walls.get("stroke-width"), corners.get("stroke-width")) == ("7", "10")
    ends = numpy.array(re.findall(r"[\d.]+", walls.get("d")), float).reshape(-1, 2, 2)
    low = plan.corners.min(axis=0) - 10
    assert (ends + low == plan.corners[plan.walls]).all()
    sides = numpy.array(re.findall(r"[\d.]+", corners.get("d")), float).reshape(-1, 2, 2)
    assert (sides.mean(axis=1) + low == plan.corners).all()
    assert (sides[:, 1] - sides[:, 0] == (10, 0)).all()


def test_open_walls_are_drawn_and_empty_plans_skipped():
    open_plan = replace(PLANS[0], walls=PLANS[0].walls[:3])
    tree = drawn(gallery([open_plan, EMPTY], 2))
    assert not list(tree.iter(f"{SVG}polygon"))
    assert tree.find(f"{SVG}path").get("d").count("M") == 3
    assert not list(tree.iter(f"{SVG}text"))


def test_legend_names_occurring_kinds_and_titles_stand_above():
    few = [plan for plan in generate_plans(20, 1) if len(find_rooms(plan)) < 6][:2]
    kinds = sorted({room.kind for plan in few for room in find_rooms(plan)})
    assert 3 <= len(kinds) < OUTSIDE  # storage rooms and balconies are in larger plans
    found = texts(gallery(few, 2, titles=["first", "second"]))
    assert found[-len(kinds) :] == [ENGLISH.kinds[kind] for kind in kinds]
    assert found[-len(kinds) - 2 : -len(kinds)] == ["first", "second"]


def test_words_of_another_language_take_the_place_of_english():
    words = replace(
        ENGLISH,
        kinds=("客厅", "卧室", "储藏室", "厨房", "卫生间", "阳台", "室外"),
        short=("客厅", "卧室", "储藏", "厨房", "卫浴", "阳台"),
        padding="填充",
        title="平面图",
        plans="房间按类别着色。",
        corners="角点。",
    )
    picture = gallery([*PLANS, corners()], 2, words=words, titles=["一"] * 7)
    assert not re.search(r">[^<]*[A-Za-z][^<]*<", picture.svg())
    assert drawn(picture).find(f"{SVG}desc").text == "房间按类别着色。 角点。"


def test_the_picture_says_what_it_is():
    tree = drawn(gallery(PLANS[:1], words=replace(ENGLISH, title='3 < 4 & "five"')))
    assert tree.get("role") == "img"
    assert tree.get("aria-label") == tree[0].text == '3 < 4 & "five"'
    assert [element.tag for element in tree[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert tree[1].text == ENGLISH.plans


def extents(picture):
    """Return left, top, right and bottom of what is drawn, (shapes, 4)."""
    found = []
    for shape in picture.shapes:
        if isinstance(shape, Text):
            wide = text_width(shape.text, shape.size)
            left, half = shape.x - shape.centred * wide / 2, shape.size / 2
            found.append((left, shape.y - half, left + wide, shape.y + half))
        elif isinstance(shape, Slice):
            middle, radius = numpy.array([shape.x, shape.y]), shape.radius
            found.append((*(middle - radius), *(middle + radius)))
        elif points := (shape.points if isinstance(shape, Area) else shape.lines).reshape(-1, 2).tolist():
            aside = shape.width / 2 if isinstance(shape, Strokes) else 0
            low, high = numpy.min(points, axis=0) - aside, numpy.max(points, axis=0) + aside
            found.append((*low, *high))
    return numpy.array(found)


def at_the_edge():
    """Return a plan as large as the canvas."""
    corners = numpy.array([(0, 0), (255, 0), (255, 255), (0, 255)], float)
    return Plan(corners, numpy.ones((4, 7), bool), numpy.array([(0, 1), (1, 2), (2, 3), (0, 3)]))


def corners(seed=0, count=40, spread=128.0):
    random = numpy.random.default_rng(seed)
    places = 128 + spread * random.standard_normal((count, 2))
    return Corners(places, random.random((count, len(KINDS))) < 0.3, random.random(count) < 0.7)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("titles", [None, ["title"] * 8])
def test_everything_lies_within_the_picture(columns, titles):
    picture = gallery([*PLANS, at_the_edge(), corners()], columns, titles=titles)
    left, top, right, bottom = extents(picture).T
    assert left.min() > -1e-9 and top.min() > -1e-9
    assert right.max() <= picture.width == WIDTH and bottom.max() <= picture.height


@pytest.mark.slow
def test_names_stand_in_their_rooms_and_touch_no_wall():
    names = 0
    for seed in range(5):
        for plan in generate_plans(10, seed):
            picture = gallery([plan], 1)
            wall = next(shape for shape in picture.shapes if isinstance(shape, Strokes))
            areas = [shape for shape in picture.shapes if isinstance(shape, Area)]
            inside = [shape for shape in picture.shapes if isinstance(shape, Text) and shape.centred]
            for name in inside:
                wide = text_width(name.text, FONT) / 2
                at = numpy.array([name.x, name.y])
                (room,) = [a for a in areas if (a.points.min(0) < at).all() and (at < a.points.max(0)).all()]
                short = ENGLISH.short[ENGLISH.kinds.index(room.name)]
                assert name.text in (room.name, short)
                low, high = wall.lines.min(axis=1), wall.lines.max(axis=1)
                reach = numpy.array([wide, FONT * 0.4]) + wall.width / 2
                assert not ((low < at + reach) & (at - reach < high)).all(axis=1).any()
                names += 1
    assert names > 150


def test_a_name_is_placed_where_the_room_is_widest():
    """In an L of a broad and a narrow part the name stands in the broad one, in a U in the base."""
    shape = numpy.array([(0, 0), (100, 0), (100, 30), (60, 30), (60, 100), (0, 100)], float)
    walls = numpy.stack([shape, numpy.roll(shape, -1, axis=0)], axis=1)
    x, y = place_for_name(shape, walls, (40, 14))
    assert 25 <= x <= 35 and 30 <= y <= 70
    assert place_for_name(shape, walls, (20, 101)) is None
    assert place_for_name(shape, walls, (70, 40)) is None  # fits the box around, but not the room
    across = numpy.array([[(0, 40), (60, 80)]], float)  # another wall stands in the way
    assert place_for_name(shape, numpy.concatenate([walls, across]), (40, 14))[1] < 40


def light(colour):
    """Return the linear red, green and blue of a colour."""
    values = numpy.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Return the contrast as WCAG 2 defines it."""
    low, high = sorted(light(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@BOTH
def test_text_and_walls_stand_out(colours):
    for kind in colours.kinds[:OUTSIDE]:
        assert contrast(colours.ink, kind) >= 4.5
        assert contrast(colours.wall, kind) >= 3
        assert contrast(colours.corner, kind) >= 4.5
        assert contrast(kind, PAPER[colours]) >= 1.2
    assert contrast(colours.text, PAPER[colours]) >= 4.5
    assert contrast(colours.wall, PAPER[colours]) >= 4.5


# What is left of red, green and blue without one kind of cones (Machado, Oliveira and Fernandes, 2009: A
# Physiologically-based Model for Simulation of Color Vision Deficiency, severity 1), and Oklab by Ottosson,
# in which 0.02 is about the least difference that is seen.
VISION = {
    "all cones": numpy.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
CONES = numpy.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = numpy.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@BOTH
@pytest.mark.parametrize("eyes", VISION)
def test_all_eyes_tell_the_kinds_apart(colours, eyes):
    seen = [
        LAB @ numpy.cbrt(CONES @ (numpy.array(VISION[eyes]) @ light(colour)).clip(0, 1))
        for colour in colours.kinds[:OUTSIDE]
    ]
    assert min(numpy.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 0.06


def test_corners_show_the_kinds_that_they_touch():
    """With two kinds, with one, with none; then one that is no corner, and one beyond the canvas."""
    kinds = numpy.zeros((5, len(KINDS)), bool)
    kinds[0, [1, 3]] = kinds[1, OUTSIDE] = kinds[3, 0] = kinds[4, 0] = True
    places = numpy.array([(20, 20), (60, 60), (100, 100), (140, 140), (300, 100)], float)
    step = Corners(places, kinds, numpy.array([True, True, True, False, True]))
    picture = gallery([step], 1, width=276)
    slices = [(s.x - 10, s.y - 10, s.colour, s.end - s.start) for s in picture.shapes if isinstance(s, Slice)]
    assert slices == [
        (140, 140, LIGHT.faint, 1),
        (20, 20, LIGHT.corner, 1),
        (20, 20, LIGHT.kinds[1], 0.5),
        (20, 20, LIGHT.kinds[3], 0.5),
        (60, 60, LIGHT.corner, 1),
        (60, 60, LIGHT.kinds[OUTSIDE], 1),
        (100, 100, LIGHT.corner, 1),
        (100, 100, LIGHT.faint, 1),
    ]
    assert texts(picture) == ["Living room", "Bedroom", "Kitchen", "Outside", "Not a corner"]
    assert drawn(picture).find(f"{SVG}desc").text == ENGLISH.corners
    assert texts(gallery([replace(step, real=numpy.ones(5, bool))], 1))[-1] == "Outside"


def test_pie_slice_is_drawn_clockwise_from_the_top():
    path = Picture(10, 10, "", "", [Slice(5, 5, 4, "#ff0000", 0, 0.25)]).svg()
    assert 'd="M5 5L5 1A4 4 0 0 1 9 5Z"' in path
    large = Picture(10, 10, "", "", [Slice(5, 5, 4, "#ff0000", 0.25, 1)]).svg()
    assert 'd="M5 5L9 5A4 4 0 1 1 5 1Z"' in large


def pixels(picture, **options):
    return numpy.array(Image.open(io.BytesIO(picture.png(**options))))


def test_svg_and_png_show_the_same():
    """Sampled at points whose colour is known."""
    shapes = [
        Area(numpy.array([(10, 10), (90, 10), (90, 40), (10, 40)], float), "#ff0000"),
        Strokes(numpy.array([[(10, 60), (90, 60)]], float), "#00ff00", 10),
        Slice(50, 90, 8, "#0000ff", 0, 0.25),
    ]
    image = pixels(Picture(100, 100, "", "", shapes), scale=1)
    assert image.shape == (100, 100, 4)
    assert image[25, 50].tolist() == [255, 0, 0, 255]
    assert [image[y, 50].tolist() for y in (57, 62)] == [[0, 255, 0, 255]] * 2
    assert (
        image[53, 50, 3] == image[67, 50, 3] == image[60, 5, 3] == image[60, 95, 3] == 0
    )  # cut off straight
    assert image[87, 53].tolist() == [0, 0, 255, 255]
    assert image[87, 47, 3] == image[93, 53, 3] == 0


@BOTH
def test_png_has_the_size_and_colours_and_no_background(colours):
    picture = gallery(PLANS[:2], 2, dark=colours is DARK)
    image = pixels(picture)
    assert image.shape == (round(picture.height) * 2, WIDTH * 2, 4)
    assert image[0, 0, 3] == 0
    found = {"#{:02x}{:02x}{:02x}".format(*pixel) for pixel in image.reshape(-1, 4)[:, :3].tolist()}
    kinds = {colours.kinds[room.kind] for plan in PLANS[:2] for room in find_rooms(plan)}
    assert found >= kinds | {colours.wall, colours.corner}
    assert pixels(picture, background="#123456")[0, 0].tolist() == [0x12, 0x34, 0x56, 255]
    assert '<rect width="100%" height="100%" fill="#123456"/>' in picture.svg(background="#123456")


def test_the_same_plans_give_the_same_bytes():
    first, second = (gallery([*PLANS, corners()], 3, titles=list("abcdefg")) for _ in range(2))
    assert first.svg() == second.svg()
    assert first.png() == second.png()
    chunks = re.findall(rb"tEXt|tIME|iTXt|zTXt", first.png())
    assert not chunks  # no date, no program
    assert not re.search(r"\d\.\d{3}|e-\d", first.svg())


def test_svg_can_be_shown_in_another_size():
    tree = ElementTree.fromstring(gallery(PLANS[:1], 1).svg(shown=760))
    width, height = map(float, tree.get("viewBox").split()[2:])
    assert (float(tree.get("width")), float(tree.get("height"))) == (760, height * 2)
    assert width == WIDTH
    assert {element.get("font-size") for element in tree.iter(f"{SVG}text")} == {str(FONT)}


def test_entries_of_the_legend_do_not_touch():
    picture = gallery([corners()], 1)
    entries = [shape for shape in picture.shapes if isinstance(shape, Text)]
    assert len(entries) == 8
    for one, other in pairwise(entries):
        assert other.y > one.y or other.x > one.x + text_width(one.text, FONT) + 14
