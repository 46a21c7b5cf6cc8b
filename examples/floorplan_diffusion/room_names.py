"""Find a place for the name of a room."""

import numpy
from matplotlib.path import Path

STEP = 4.0  # pixels between tested places


def place_for_name(
    outline: numpy.ndarray, walls: numpy.ndarray, size: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the centre of a box of `size` (width, height) inside a room that touches no wall, or None.

    `outline`: (points, 2), the room; `walls`: (walls, 2, 2), all of the plan, also inside the room. Of the
    places farthest from the walls, it is the one nearest to the middle of the room.
    """
    low, high = outline.min(axis=0), outline.max(axis=0)
    centre = (low + high) / 2
    if (high - low < size).any():
        return None
    counts = ((high - low) / STEP / 2).astype(int)
    tried = numpy.stack(
        numpy.meshgrid(*(numpy.arange(-count, count + 1) * STEP for count in counts), indexing="ij"), axis=-1
    )
    places = centre + tried.reshape(-1, 2)
    places = places[Path(outline).contains_points(places)]
    places = places[~touched(places, numpy.array(size) / 2, walls)]
    if not len(places):
        return None
    free = numpy.minimum(distances(places, walls).min(axis=1).round(), max(size))
    from_centre = numpy.linalg.norm(places - centre, axis=1)
    x, y = places[numpy.lexsort((from_centre, -free))[0]]
    return float(x), float(y)


def touched(places: numpy.ndarray, half: numpy.ndarray, walls: numpy.ndarray) -> numpy.ndarray:
    """Return at which places a wall enters the box of size 2 · `half` around the place, (places,) bool.

    A wall enters the box if the parts of it that are within the box along x and along y overlap.
    """
    start = walls[None, :, 0] - places[:, None]  # (places, walls, 2)
    way = (walls[:, 1] - walls[:, 0])[None]
    still = way == 0
    divisor = numpy.where(still, 1.0, way)
    ends = numpy.stack([(-half - start) / divisor, (half - start) / divisor])
    never = still & (numpy.abs(start) > half)
    enter = numpy.where(still, numpy.where(never, 2.0, 0.0), ends.min(axis=0)).max(axis=-1)
    leave = numpy.where(still, numpy.where(never, -1.0, 1.0), ends.max(axis=0)).min(axis=-1)
    return (numpy.maximum(enter, 0) <= numpy.minimum(leave, 1)).any(axis=1)


def distances(points: numpy.ndarray, walls: numpy.ndarray) -> numpy.ndarray:
    """Return the distance of each point from each wall, (points, walls)."""
    start, way = walls[:, 0], walls[:, 1] - walls[:, 0]
    to_point = points[:, None] - start
    length = numpy.maximum((way**2).sum(axis=1), 1e-9)
    part = ((to_point * way).sum(axis=2) / length).clip(0, 1)
    return numpy.linalg.norm(to_point - part[..., None] * way, axis=2)
