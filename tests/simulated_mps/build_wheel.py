"""Build the wheel that needs no compiler: it carries the device for each PyTorch of the environments named.

    python build_wheel.py --out dist PYTHON [PYTHON ...]

Each PYTHON is an environment's, such as .venv/bin/python: all of one Python version, each with another of the
supported PyTorch releases, which is all that they need.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEFT_OUT = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so")
COMPILE = (
    "from pathlib import Path; from simulated_mps import build; build.compile_device(build.carried_device())"
)


def compile_for(python: Path, folder: Path) -> None:
    """Compile the device of the copy in `folder` for the PyTorch of `python`, into that copy."""
    # The environment may have a device of its own, which `import torch` would look for.
    variables = {**os.environ, "PYTHONPATH": str(folder), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    subprocess.run([python, "-c", COMPILE], cwd=folder, env=variables, check=True)


def python_of(python: Path) -> str:
    """Return the version of an environment's Python, such as "3.13"."""
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Build the wheel; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dist"), metavar="FOLDER")
    parser.add_argument("python", type=Path, nargs="+", help="of an environment with a supported PyTorch")
    options = parser.parse_args()
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in options.python:
        if python_of(python) != ours:
            parser.error(f"{python} is Python {python_of(python)}; the wheel is for this one, {ours}")
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "simulated_mps"  # so that nothing compiled stays beside the sources
        shutil.copytree(HERE, copy, ignore=LEFT_OUT)
        for python in options.python:
            compile_for(python.absolute(), copy)
        libraries = list((copy / "simulated_mps").glob("*.so"))
        if len(libraries) != len(options.python):
            parser.error("two of the environments have the same release of PyTorch")
        out = options.out.absolute()
        pack = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", out, copy]
        return subprocess.run(pack, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
