"""Check the files in configs/, which may contain untrusted ones, such as an experiment.

Hydra has no limits: aliases in YAML, or values that refer to others, can expand a few hundred bytes to
gigabytes.
"""

from pathlib import Path
from typing import Any

import yaml

from snippets.errors import UsageError, one_line
from snippets.foreign_files import read_text

# foreign_reads: with limits of its own
CONFIGS = Path(__file__).with_name("configs")
MOST, DEEPEST = 1 << 16, 20  # bytes of a file, and nested brackets or levels
PASSES = (
    "${div_up:${train.global_batch_size},${dataset.batch_size}}"  # our only value that refers to two keys
)


def names_in(group: str) -> list[str]:
    """Return the names of the files in a folder of configs/."""
    files = (CONFIGS / group).rglob("*.yaml")
    return sorted(path.relative_to(CONFIGS / group).with_suffix("").as_posix() for path in files)


def check_files() -> None:
    """Raise UsageError for a file in configs/ that is too large, or not plain YAML without expansion."""
    for path in sorted(CONFIGS.rglob("*.yaml")):
        try:
            content = read_plain(path) or {}
            if not isinstance(content, dict):
                raise ValueError("it holds no keys")
            if ".." in str(content.get("defaults")):
                raise ValueError("its defaults name a file outside configs/")
        except (OSError, ValueError, yaml.YAMLError) as error:
            reason = getattr(error, "strerror", None) or one_line(str(error))
            raise UsageError(f"cannot read {path}: {reason}") from None


def read_plain(path: Path) -> Any:
    """Return the content of a small YAML file, all of it as text. Raises OSError, ValueError, YAMLError."""
    text = read_text(path, MOST)
    check_events(text)
    return yaml.load(text, yaml.BaseLoader)


def check_events(text: str) -> None:
    """Raise ValueError for YAML that can expand when it is read, and YAMLError for other text."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        where = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise ValueError(f"{where}: aliases (*) and tags (!) are not read; write the value itself")
        if isinstance(event, yaml.ScalarEvent) and event.value.count("${") > 1 and event.value != PASSES:
            raise ValueError(f"{where}: a value may refer to one key (${{key}}), not to several")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"{where}: more than {DEEPEST} levels")
