"""Floor plans drawn by a rule: rectangles cut into rooms. Which corners a wall joins is known exactly."""

import itertools

import numpy

from examples.floorplan_diffusion.plans import CANVAS, KINDS, OUTSIDE, Plan, PlanSet, Splits

MODULE = 8  # pixels: all walls lie on a grid of this width, as those of many houses do
LEAST_ROOM = 24  # pixels along each side
FEWEST_ROOMS, MOST_ROOMS = 4, 8
Room = tuple[int, int, int, int]  # left, top, right, bottom


# --8<-- [start:generate]
def generate_splits(plans: int, seed: int) -> Splits:
    """Return `plans` plans to learn from and a tenth as many, at least 8, to hold out and to test with."""
    val = generate_plans(max(8, plans // 10), [seed, 1])
    return Splits(generate_plans(plans, [seed, 0]), val, generate_test(plans, seed))


def generate_test(plans: int, seed: int) -> PlanSet:
    """Return the plans to test with alone: much sooner than all three parts."""
    return generate_plans(max(8, plans // 10), [seed, 2])


def generate_plans(count: int, seed: int | list[int]) -> PlanSet:
    """Return `count` plans of 4 to 8 rooms.

    No two cuts lie on one line, so two corners are joined if and only if they follow one another on a common
    horizontal or vertical line.
    """
    random = numpy.random.default_rng(seed)
    drawn: list[Plan] = []
    while len(drawn) < count:
        rooms = draw_rooms(random)
        if rooms:  # otherwise there was no place left to cut
            drawn.append(plan_of(rooms))
    return PlanSet.of("generated", "rectangles cut into 4 to 8 rooms", drawn)


def draw_rooms(random: numpy.random.Generator) -> list[Room] | None:
    """Return the rooms of a new plan, or None when it cannot be cut into as many as were drawn."""
    width, height = (MODULE * random.integers(120 // MODULE, 216 // MODULE + 1, 2)).tolist()
    left, top = ((CANVAS - side) // 2 // MODULE * MODULE for side in (width, height))
    rooms = [(left, top, left + width, top + height)]
    lines = [{left, left + width}, {top, top + height}]  # where no further cut may lie, by axis
    wanted = int(random.integers(FEWEST_ROOMS, MOST_ROOMS + 1))
    cut_out = random.random() < 0.5  # a room at a corner becomes a part of the garden
    while len(rooms) < wanted + cut_out:
        rooms.sort(key=area)
        parts = cut(rooms.pop(), lines, random)
        if parts is None:
            return None
        rooms += parts
    if cut_out:
        x, y = (int(random.choice(ends)) for ends in ((left, left + width), (top, top + height)))
        rooms = [room for room in rooms if not (x in room[::2] and y in room[1::2])]
    return rooms


def cut(room: Room, lines: list[set[int]], random: numpy.random.Generator) -> list[Room] | None:
    """Return both parts of a room, cut across its longer side; None when there is no place for a cut."""
    axis = 0 if room[2] - room[0] >= room[3] - room[1] else 1
    places = [
        place
        for place in range(room[axis] + LEAST_ROOM, room[axis + 2] - LEAST_ROOM + 1, MODULE)
        if place not in lines[axis]
    ]
    if not places:
        return None
    place = int(random.choice(places))
    lines[axis].add(place)
    left, top, right, bottom = room
    if axis == 0:
        return [(left, top, place, bottom), (place, top, right, bottom)]
    return [(left, top, right, place), (left, place, right, bottom)]


def area(room: Room) -> int:
    """Return the square pixels of a room."""
    return (room[2] - room[0]) * (room[3] - room[1])


# --8<-- [end:generate]
def kinds_of_rooms(rooms: list[Room]) -> list[int]:
    """Return what each room is: the largest is to live in, the smallest the bathroom, the next the kitchen.

    A plan of six or more rooms has a storage room, one of seven or more a balcony, each the next in size;
    what is left are bedrooms.
    """
    by_size = sorted(range(len(rooms)), key=lambda index: (area(rooms[index]), rooms[index]))
    named = ["bathroom", "kitchen", *["storage"] * (len(rooms) > 5), *["balcony"] * (len(rooms) > 6)]
    kinds = [KINDS.index("bedroom")] * len(rooms)
    for index, name in zip(by_size, named, strict=False):
        kinds[index] = KINDS.index(name)
    kinds[by_size[-1]] = KINDS.index("living room")
    return kinds


def plan_of(rooms: list[Room]) -> Plan:
    """Return the graph of rectangular rooms that share walls."""
    corners = sorted({(x, y) for room in rooms for x in room[::2] for y in room[1::2]})
    number = {corner: index for index, corner in enumerate(corners)}
    kinds = numpy.zeros((len(corners), len(KINDS)), dtype=bool)
    walls = set()
    for room, kind in zip(rooms, kinds_of_rooms(rooms), strict=True):
        left, top, right, bottom = room
        touching = [c for c in corners if left <= c[0] <= right and top <= c[1] <= bottom]
        kinds[[number[corner] for corner in touching], kind] = True
        for side in (
            [c for c in touching if c[0] == left],
            [c for c in touching if c[0] == right],
            sorted((c for c in touching if c[1] == top), key=lambda c: c[0]),
            sorted((c for c in touching if c[1] == bottom), key=lambda c: c[0]),
        ):
            walls |= {(number[a], number[b]) for a, b in itertools.pairwise(side)}
    for (x, y), index in number.items():
        around = ((x + dx, y + dy) for dx in (-1, 1) for dy in (-1, 1))
        kinds[index, OUTSIDE] = not all(
            any(room[0] < a < room[2] and room[1] < b < room[3] for room in rooms) for a, b in around
        )
    return Plan(numpy.array(corners, dtype=float), kinds, numpy.array(sorted(walls)))
