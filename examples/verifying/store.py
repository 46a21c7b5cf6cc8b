"""What is finished, a line of JSON for each step, so that the same command goes on where it was stopped."""

import json
import os
from pathlib import Path
from typing import Any

from snippets.atomic_write import replace_file

FILE = "steps.jsonl"


class Store:
    """The lines of the work folder. The first says of which machine, versions and commit they are."""

    def __init__(self, folder: Path, identity: dict[str, Any], again: bool) -> None:
        """Read what is there; `why_anew` says why it is not used. Nothing is written yet."""
        self.path, self.identity, self.why_anew = folder / FILE, identity, ""
        lines = [] if again else read_lines(self.path)
        if lines and lines[0] != {"identity": identity}:
            then = lines[0].get("identity")
            changed = [
                key for key in identity if not isinstance(then, dict) or then.get(key) != identity[key]
            ]
            self.why_anew, lines = f"other than last time: {', '.join(changed)}", []
        self.lines = lines or [{"identity": identity}]
        self.steps = {f"{one['kind']} {one['name']}": one for one in self.lines if "kind" in one}
        self.checks = next((one["checks"] for one in reversed(self.lines) if "checks" in one), None)

    def begin(self) -> None:
        """Write the lines once more as a whole: the last one may be cut off. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line) + "\n" for line in self.lines)
        replace_file(self.path, lambda file: file.write(text.encode()))

    def add(self, line: dict[str, Any]) -> None:
        """Add a finished step, or the checks so far."""
        if "kind" in line:
            self.steps[f"{line['kind']} {line['name']}"] = line
        else:
            self.checks = line["checks"]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a file; none when there is no such file."""
    found = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            value = json.loads(line)
            if not isinstance(value, dict):
                break
            found.append(value)
    except (OSError, ValueError):  # a line that is cut off is the last one
        pass
    return found
