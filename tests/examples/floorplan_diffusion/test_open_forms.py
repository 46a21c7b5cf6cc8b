"""Plans as people draw them: what is read from JSON, DXF and SVG, and that what goes out comes back."""

import io
import json

import ezdxf
import numpy
import pytest

from examples.floorplan_diffusion import convert
from examples.floorplan_diffusion.drawing import gallery
from examples.floorplan_diffusion.drawn_plans import area
from examples.floorplan_diffusion.generate_files import write_plan
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.open_forms import read_drawings, to_plans
from examples.floorplan_diffusion.plan_dxf import dxf_of
from examples.floorplan_diffusion.plan_files import read_splits
from examples.floorplan_diffusion.plan_json import json_of
from examples.floorplan_diffusion.plans import KINDS, MOST_CORNERS
from examples.floorplan_diffusion.room_words import kind_of
from examples.floorplan_diffusion.rooms import find_rooms
from snippets.errors import UsageError

PLANS = list(generate_plans(12, 3))
SQUARE = [[10, 10], [60, 10], [60, 60], [10, 60]]


def back(path, unit=None, scale=None, snap=0, own=None):
    """Return the plans of a file on the canvas, and the findings."""
    return to_plans(read_drawings([path], unit, own or {}), scale, snap)


def one_plan(*rooms, unit="px"):
    """Return a plan in our JSON with rooms given by name and corners."""
    return {"unit": unit, "rooms": [{"name": name, "corners": corners} for name, corners in rooms]}


def written(folder, content):
    """Return a new JSON file."""
    (folder / "plans.json").write_text(json.dumps(content), encoding="utf-8")
    return folder / "plans.json"


def assert_same(found, given):
    """Fail unless two plans have the same corners, kinds and walls."""
    for part in ("corners", "kinds", "walls"):
        assert numpy.array_equal(getattr(found, part), getattr(given, part)), part


# ---- What goes out comes back ----


def test_json_comes_back_equal(tmp_path):
    (tmp_path / "plans.json").write_text(json_of(PLANS))
    found, findings = back(tmp_path / "plans.json")
    assert not findings.bad and findings.off.moved == 0
    for one, given in zip(found, PLANS, strict=True):
        assert_same(one, given)


@pytest.mark.parametrize("scale", [None, 14.2])
def test_dxf_comes_back_moved_to_the_middle(tmp_path, scale):
    (tmp_path / "plan.dxf").write_bytes(dxf_of(PLANS[0], scale))
    (found,), _ = back(tmp_path / "plan.dxf", unit=None if scale else "m", scale=scale or 1)
    assert (found.walls == PLANS[0].walls).all() and (found.kinds == PLANS[0].kinds).all()
    assert len(numpy.unique(found.corners - PLANS[0].corners, axis=0)) == 1


def test_the_drawn_svg_comes_back_as_the_same_rooms(tmp_path):
    (tmp_path / "plan.svg").write_text(gallery([PLANS[0]], columns=1).svg())
    (found,), _ = back(tmp_path / "plan.svg", unit="m", snap=1)
    assert [(room.kind, len(room.corners)) for room in find_rooms(found)] == [
        (room.kind, len(room.corners)) for room in find_rooms(PLANS[0])
    ]


# ---- Names ----


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bedroom 2", "bedroom"),
        ("MASTER_BEDROOM", "bedroom"),
        ("主卧室", "bedroom"),
        ("W.C.", "bathroom"),
        ("LivingRoom", "living room"),
        ("ＬＤＫ　１６帖", "living room"),
        ("玄関", "living room"),
        ("クローゼット", "storage"),
        ("wc-1", "bathroom"),
        ("客厅", "living room"),
        ("Kitchen/Dining", None),  # two kinds
        ("sauna", None),
    ],
)
def test_names_have_one_kind_or_none(name, kind):
    found = kind_of(name, {})
    assert (None if found is None else KINDS[found]) == kind
    assert kind_of(name, {"sauna": 4}) == (4 if name == "sauna" else found)


# ---- From drawn rooms to plans ----


def test_a_side_is_cut_where_another_room_begins(tmp_path):
    path = written(tmp_path, one_plan(("bed", SQUARE), ("bath", [[60, 20], [90, 20], [90, 40], [60, 40]])))
    (plan,), _ = back(path)
    assert len(plan.corners) == 8 and len(plan.walls) == 9  # Euler: 8 - 9 + 3 faces = 2
    assert plan.kinds[plan.corners.tolist().index([60, 20])].nonzero()[0].tolist() == [1, 4, 6]


def test_walls_with_a_thickness_become_one_line(tmp_path):
    rooms = ("bed", SQUARE), ("bath", [[63, 10], [90, 10], [90, 59], [63, 59]])
    path = written(tmp_path, one_plan(*rooms))
    assert len(back(path)[0][0].corners) == 8
    assert len(back(path, snap=3)[0][0].corners) == 6


def test_corners_off_the_grid_are_counted(tmp_path):
    path = written(tmp_path, one_plan(("bed", [[10, 10], [60.25, 10], [60.25, 60], [10, 60]])))
    _, findings = back(path)
    assert list(findings.lines()) == [
        "grid       2 of 4 corners moved to whole pixels, the furthest by 0.25 pixels"
    ]


SQUARES = [("bed", [[x, 0], [x + 9, 0], [x + 9, 9], [x, 9]]) for x in range(0, 140, 10)]


@pytest.mark.parametrize(
    ("rooms", "message"),
    [
        ([("bed", SQUARE), ("bath", [[30, 30], [90, 30], [90, 50], [30, 50]])], "rooms overlap"),
        ([("bed", SQUARE), ("bath", [[20, 20], [50, 20], [50, 50], [20, 50]])], "rooms overlap"),
        ([("bed", SQUARE), ("bath", [[10, 10], [30, 10], [30, 60], [10, 60]])], "rooms overlap"),
        ([("bed", [[10, 10], [60, 60], [60, 10], [10, 50]])], "the outline crosses itself"),
        (
            [("bed", [[10, 10], [300, 10], [300, 60]])],
            "outside of the canvas of 256 × 256 pixels; is one unit",
        ),
        ([("bed", [[10, 10], [10.2, 10], [10.2, 10.3]])], "no area is left at whole pixels"),
        (SQUARES, "56 corners; a plan has at most 53"),
    ],
)
def test_what_the_canvas_cannot_hold_is_named(tmp_path, rooms, message):
    (plan,), findings = back(written(tmp_path, one_plan(*rooms)))
    assert plan is None and message in findings.bad[0] and "plan 0: " in findings.bad[0]


# ---- Damaged and foreign files ----

GOOD = json.dumps([one_plan(("bed", SQUARE))])
HEAD, ENTITIES = dxf_of(PLANS[0], 10).split(b"\nENTITIES\n")
BULGE = HEAD + b"\nENTITIES\n" + ENTITIES.replace(b"\n 10\n", b"\n 42\n1.0\n 10\n", 2)
BOMB = b'<!DOCTYPE svg [<!ENTITY a "bed"><!ENTITY b "&a;&a;">]><svg id="&b;"/>'


def drawing(rooms=(("BED", 0, 0, 4, 3),), texts=(), units=0, *, single=False, block=False):
    """Return a DXF file with rectangles of layer, left, bottom, width and height, and texts at places."""
    document = ezdxf.new("R2010", units=units)
    space = document.blocks.new("ROOM") if block else document.modelspace()
    for layer, x, y, width, height in rooms:
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        if single:
            space.add_line(*corners[:2])
        else:
            space.add_lwpolyline(corners, close=True, dxfattribs={"layer": layer})
    for text, x, y in texts:
        space.add_mtext(text, dxfattribs={"insert": (x, y)})
    if block:
        document.modelspace().add_blockref("ROOM", (1, 1), {"xscale": 2, "yscale": 3})
    file = io.StringIO()
    document.write(file)
    return file.getvalue().encode()


ARC = b'<svg xmlns="http://www.w3.org/2000/svg"><path id="bed" d="M0 0H50A9 9 0 0 1 50 50H0Z"/></svg>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", "is no JSON: Expecting value"),
        ("a.json", b"\0" * 40, "is no JSON"),
        ("a.json", GOOD.encode("utf-16"), "is not text in UTF-8; save it with the encoding UTF-8"),
        ("a.json", b"[" * 100_000, "is no JSON of plans"),
        ("a.json", b"[]", "has no plans; it must hold"),
        ("a.json", GOOD.replace("px", "yd").encode(), "unit 'yd'; write"),
        ("a.json", GOOD.replace("bed", "sauna").encode(), "room 0: room name 'sauna' is not known; --name"),
        ("a.json", GOOD.replace("[10, 10]", "[10, NaN]").encode(), "is not a pair of numbers"),
        ("a.json", GOOD.replace("[10, 10]", "[10, 10, 0]").encode(), "is not a pair of numbers"),
        ("a.svg", BOMB, "it defines entities; save it as plain SVG"),
        ("a.svg", ARC, "a side is an arc; draw straight sides"),
        ("a.svg", b"<html/>", "its first element is html, not svg"),
        (
            "a.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            "0 of 0 closed lines have the name of a room",
        ),
        ("a.dxf", b"", "is no whole DXF drawing"),
        ("a.dxf", drawing(), "does not say its unit ($INSUNITS); --unit m|cm|mm|ft|in|px does"),
        ("a.dxf", drawing(single=True), "no closed lines, only 1 single ones"),
        ("a.dxf", b"AC1032" + bytes(60), "it is a DWG file (AC1032); save it as DXF"),
        ("a.json", b'{"shapes": []}', "is labelme's form"),
        ("a.json", b'{"annotations": []}', "is COCO's form"),
        ("a.json", b'{"room_type": [1]}', "is House-GAN++'s form"),
        ("a.geojson", b"{}", "GeoJSON is in degrees"),
        ("a.npz", b"", "arrays such as HouseDiffusion's are no drawings"),
        ("a.pdf", b"%PDF", "PDF is not read; save as DXF or SVG"),
        ("a.txt", b"", "one of .json, .dxf, .svg, .npy is read"),
    ],
)
def test_foreign_and_damaged_files_are_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as refused:
        back(tmp_path / name)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_an_arc_in_dxf_is_refused(tmp_path):
    (tmp_path / "a.dxf").write_bytes(BULGE)
    with pytest.raises(UsageError, match="a side is an arc"):
        back(tmp_path / "a.dxf")


@pytest.mark.parametrize("text", ["\ufeff" + GOOD, GOOD.replace(",", ",\r\n"), GOOD[1:-1]])
def test_marks_and_line_ends_of_other_systems_are_read(tmp_path, text):
    (tmp_path / "a.json").write_bytes(text.encode())
    assert back(tmp_path / "a.json")[0][0].corners.tolist() == [[10, 10], [10, 60], [60, 10], [60, 60]]


# ---- Names in drawings ----

TWO = (("BED", 0, 0, 4, 3), ("BATH", 4, 0, 2, 3))
HALL = ("FLUR", 0, 3, 6, 1)
FRAME = ("RAHMEN", -1, -1, 8, 5)


def rooms_in(folder, *given, own=None, **also):
    """Return kinds with areas of the rooms in a drawing in metres, and the notes."""
    (folder / "a.dxf").write_bytes(drawing(*given, units=6, **also))
    (plan,) = read_drawings([folder / "a.dxf"], None, own or {})
    return [(KINDS[room.kind], abs(area(room.corners))) for room in plan.rooms], plan.notes


def test_a_frame_around_rooms_is_no_room(tmp_path):
    found, notes = rooms_in(tmp_path, (*TWO, FRAME), [("Wohnung 1", -0.5, -0.5)], own={"wohnung": 2})
    assert found == [("bedroom", 12), ("bathroom", 6)]
    assert notes == {"outlines around rooms, which are no rooms: 'wohnung'": 1}


def test_frame_with_a_kind_is_not_the_room(tmp_path):
    unknown = [("ZIMMER", *one[1:]) for one in TWO]
    with pytest.raises(UsageError, match=r"'zimmer' 2; .* --name zimmer=KIND"):
        rooms_in(tmp_path, (*unknown, FRAME), own={"rahmen": 2})


def test_a_neighbour_without_a_kind_is_asked_for(tmp_path):
    with pytest.raises(UsageError, match=r"in 1 plans: 'flur' 1; .* --name flur=KIND \(kinds:"):
        rooms_in(tmp_path, (*TWO, HALL))
    assert rooms_in(tmp_path, (*TWO, HALL), own={"flur": 0})[0][2] == ("living room", 6)
    found, notes = rooms_in(tmp_path, (*TWO, HALL), own=dict([convert.own_word("Flur=none")]))
    assert len(found) == 2 and notes == {"lines of no room: 'flur'": 1}


def test_furniture_in_a_room_is_counted_only(tmp_path):
    found, notes = rooms_in(tmp_path, (*TWO, ("A-FURN", 0, 0, 2, 2)))
    assert len(found) == 2 and notes == {"closed lines in rooms, which are no rooms: 'a furn'": 1}


def test_sizes_and_codes_in_texts_are_no_names(tmp_path):
    rooms = [("A-AREA", *one[1:]) for one in TWO]
    texts = [("9'-10\" x 15'-5\"", 1, 1), (r"{\fArial|b1;LIVING\~ROOM}\P12'", 1, 2), ("W.I.C.", 5, 1)]
    assert rooms_in(tmp_path, rooms, texts)[0] == [("living room", 12), ("storage", 6)]


def test_blocks_are_read_where_they_stand(tmp_path):
    found, _ = rooms_in(tmp_path, TWO, block=True)
    assert found == [("bedroom", 72), ("bathroom", 36)]  # 2 × 3 times as large


def test_cubicasa_classes_are_names(tmp_path):
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg"><g class="Wall"><polygon points="0,0 9,0 9,1"/></g>'
        '<g class="Space LivingRoom" id="f4-1"><polygon points="0,0 9,0 9,9 0,9 "/>'
        '<text x="4" y="4">OH</text></g></svg>'
    )
    (tmp_path / "a.svg").write_text(text)
    (plan,) = read_drawings([tmp_path / "a.svg"], None, {})
    assert [room.kind for room in plan.rooms] == [0] and plan.notes == {"lines of no room: 'wall'": 1}


# ---- convert.py ----


@pytest.mark.parametrize("json_too", [False, True])
def test_generated_files_come_back_as_typed(tmp_path, capsys, json_too):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "plans").mkdir()
    for number, plan in enumerate(PLANS):
        write_plan(tmp_path / "plans" / f"{number:04d}", plan, ("dxf", "svg"), None)
    if json_too:
        (tmp_path / "plans.json").write_text(json_of(PLANS))
    assert convert.main([str(tmp_path), "--out", str(tmp_path / "new")]) == 0
    assert "left out   0 of 12 plans" in capsys.readouterr().out
    found = [
        plan for split in vars(read_splits(tmp_path / "new")).values() for plan in split.corners.tolist()
    ]
    given = [plan.corners.tolist() for plan in PLANS]
    assert sorted([corner for corner in plan if corner != [0, 0]] for plan in found) == sorted(given)


def test_folders_in_a_folder_are_searched(tmp_path, capsys):
    for number in range(3):
        (tmp_path / "all" / str(number)).mkdir(parents=True)
        (tmp_path / "all" / str(number) / "plan.dxf").write_bytes(drawing(TWO, units=6))
    (tmp_path / "all" / "train.txt").write_text("0")
    assert convert.main([str(tmp_path / "all"), "--out", str(tmp_path / "new")]) == 0
    assert "not read   train.txt" in capsys.readouterr().out


def test_a_folder_without_plans_says_what_is_missing(tmp_path):
    with pytest.raises(UsageError, match=r"has no \.json, \.dxf, \.svg or \.npy files"):
        convert.main([str(tmp_path), "--out", str(tmp_path / "new")])


def test_a_broken_file_does_not_stop_the_others(tmp_path, capsys):
    for number in range(3):
        (tmp_path / f"{number}.dxf").write_bytes(drawing(TWO, units=6))
    (tmp_path / "9.dxf").write_bytes(b"")
    with pytest.raises(UsageError, match="1 of 4 plans are no plans; --skip-bad"):
        convert.main([str(tmp_path), "--out", str(tmp_path / "new")])
    assert "9.dxf is no whole DXF" in capsys.readouterr().out


def test_a_file_of_plans_becomes_a_data_set(tmp_path, capsys):
    plans = [one_plan(("bed", SQUARE), unit="px") for _ in range(10)] + [
        one_plan(("bed", [*SQUARE[:2], [1e3, 1]]))
    ]
    path = written(tmp_path, plans)
    with pytest.raises(UsageError, match="1 of 11 plans are no plans; --skip-bad leaves them out"):
        convert.main([str(path), "--out", str(tmp_path / "new")])
    assert not (tmp_path / "new").exists()
    assert convert.main([str(path), "--skip-bad", "--out", str(tmp_path / "new")]) == 0
    assert "left out   1 of 11 plans\n" in capsys.readouterr().out
    found = read_splits(tmp_path / "new")
    assert (len(found.train), len(found.val), len(found.test)) == (8, 1, 1)
    assert found.train.corners.shape[1] == MOST_CORNERS
