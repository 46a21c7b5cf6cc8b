"""Write floor plans of one's own in the open form that convert.py of the floor-plan system reads."""

# --8<-- [start:write]
import json
from pathlib import Path


def flat(width, depth):
    """Return a flat of three rooms, in metres; y grows downwards."""
    bedroom = [[0, 0], [width - 2, 0], [width - 2, 3], [0, 3]]
    bath = [[width - 2, 0], [width, 0], [width, 3], [width - 2, 3]]
    living = [[0, 3], [width, 3], [width, depth], [0, depth]]
    rooms = {"bedroom": bedroom, "bath": bath, "客厅": living}
    return {"rooms": [{"name": name, "corners": corners} for name, corners in rooms.items()]}


plans = [flat(6 + number % 5, 8 + number / 10) for number in range(40)]
Path("flats.json").write_text(json.dumps({"unit": "m", "plans": plans}), encoding="utf-8")
# --8<-- [end:write]
