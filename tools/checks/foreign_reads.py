"""Find places that open files of others without limits: pipes hang there, and a bomb takes all memory.

    python -m tools.checks.foreign_reads

Examples and snippets read through the modules below. Recipes and single files stand alone: not looked at.
A module of one system that opens files by itself says why, in a line that begins with `# foreign_reads: `.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAND_ALONE = ("snippets/recipes/*", "*/single_file.py")
READING = (  # modules that open what somebody else may have made, with limits
    "snippets/foreign_files.py",
    "snippets/untrusted_checkpoints.py",
    "snippets/checkpoints.py",
    "examples/programs/array_files.py",
    "examples/programs/resume.py",
    "examples/programs/run_folder.py",
    "examples/monitoring/*",
)
OWN = {  # files that nobody else makes
    "examples/benchmarking/machine.py": "/proc",
    "examples/check_claims.py": "the claims of this project",
    "examples/check_setup.py": "/proc",
    "examples/verify_mac.py": "its own report, if it is a small file",
    "examples/verifying/levels.py": "the file that its benchmark has just written",
    "examples/verifying/recipes.py": "recipes of this project, and what they have just printed",
    "examples/verifying/store.py": "its own notes",
    "examples/upgrade_nightly.py": "what pip has just written, and its own notes",
    "snippets/batch_size_search.py": "its own temporary file",
    "snippets/colab_cells.py": "the checkpoint that its training has just written",
    "snippets/device_test.py": "its own temporary file",
    "examples/programs/identity.py": "the note in the downloaded project",
    "snippets/openmp_runtimes.py": "/proc",
    "snippets/trainer_on_mac.py": "what the same callback has written into its checkpoint",
    "snippets/lora_train.py": "the texts of the reader, who pastes it",
    "snippets/long_runs_resumed.py": "what the same loop has saved",
    "snippets/operator_support.py": "a list of PyTorch",
}
REASON = re.compile(r"^# foreign_reads: \w", re.MULTILINE)
METHODS = {"read_text", "read_bytes"}  # of paths
FUNCTIONS = (
    "gzip.open bz2.open lzma.open io.open zipfile.ZipFile tarfile.open json.load pickle.load torch.load "
    "numpy.load numpy.fromfile numpy.memmap numpy.loadtxt numpy.genfromtxt numpy.lib.format.open_memmap "
    "OmegaConf.load yaml.*load yaml.*load_all pandas.read_* *.ParquetFile ParquetFile ZipFile"
)


def opens(call: ast.Call) -> bool:
    """Return whether a call opens a path to read."""
    name = ast.unparse(call.func)
    if any(fnmatch.fnmatch(name, pattern) for pattern in FUNCTIONS.split()):
        return True
    last = name.rpartition(".")[2]
    if last in METHODS:
        return "." in name and not name.startswith("foreign_files.")
    if last != "open" or name in ("os.open", "webbrowser.open"):
        return name == "os.open" and not any(mode in ast.unparse(call) for mode in ("O_WRONLY", "devnull"))
    place = 1 if name == "open" else 0  # of the mode: open(path, mode), path.open(mode)
    given = call.args[place : place + 1] + [word.value for word in call.keywords if word.arg == "mode"]
    mode = given[0].value if given and isinstance(given[0], ast.Constant) else "r"
    return not isinstance(mode, str) or "r" in mode


def found_in(root: Path) -> Iterator[str]:
    """Yield a line for each place. Raises FileNotFoundError when there is nothing to look at."""
    files = sorted(path for part in ("examples", "snippets") for path in (root / part).rglob("*.py"))
    if not files:
        raise FileNotFoundError("no Python file in examples/ and snippets/")
    for path in files:
        name = path.relative_to(root).as_posix()
        if any(fnmatch.fnmatch(name, pattern) for pattern in (*STAND_ALONE, *READING, *OWN)):
            continue
        text = path.read_text(encoding="utf-8")
        if REASON.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and opens(node):
                yield f"{name}:{node.lineno}: {ast.unparse(node.func)} has no limits; use foreign_files.py"


def main(root: Path = ROOT) -> int:
    """Print each place; return the exit code."""
    lines = list(found_in(root))
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
