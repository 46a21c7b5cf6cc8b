"""Show which OpenMP runtimes a process has loaded, and which ones the installed packages contain.

`python -m snippets.openmp_runtimes torch sklearn` imports these packages in turn.
"""

import ctypes
import importlib
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from snippets.errors import UsageError, exit_with_one_line

PACKAGES = Path(sysconfig.get_path("platlib")).resolve()
ELSEWHERE = (Path(sys.prefix, "lib"), Path("/opt/homebrew/opt/libomp/lib"), Path("/usr/local/opt/libomp/lib"))

# --8<-- [start:loaded]
RUNTIME = re.compile(r"lib(omp|iomp5|gomp)(-\w+)?(\.so[.\d]*|[.\d]*\.dylib)")


def loaded_libraries() -> list[str]:
    """Return the paths of all libraries that this process has loaded, on macOS and on Linux."""
    if sys.platform == "darwin":
        dyld = ctypes.CDLL(None)
        dyld._dyld_get_image_name.restype = ctypes.c_char_p
        return [os.fsdecode(dyld._dyld_get_image_name(i)) for i in range(dyld._dyld_image_count())]
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return [f"/{line.partition('/')[2]}" for line in maps]


def loaded_runtimes() -> list[Path]:
    """Return the loaded OpenMP runtimes. On a Mac, more than one can abort the process."""
    files = {Path(os.path.realpath(name)) for name in loaded_libraries()}
    return sorted(file for file in files if RUNTIME.fullmatch(file.name))


# --8<-- [end:loaded]
def installed_runtimes(packages: Path = PACKAGES) -> list[Path]:
    """Return the OpenMP runtimes in the installed packages, and those of conda and Homebrew."""
    files = [*packages.rglob("lib*omp*")]
    files += [file for folder in ELSEWHERE for file in folder.glob("lib*omp*")]
    return sorted({file.resolve() for file in files if RUNTIME.fullmatch(file.name)})


def short(file: Path) -> str:
    """Return `file` relative to the folder of installed packages if it is in it, else unchanged."""
    return str(file.relative_to(PACKAGES) if file.is_relative_to(PACKAGES) else file)


def main(argv: Sequence[str] | None = None) -> int:
    """Import packages in turn and print the runtimes that each one brings, then those installed."""
    names = sys.argv[1:] if argv is None else argv
    if not names:
        raise UsageError("name the packages, as in: python -m snippets.openmp_runtimes torch sklearn")
    before: set[Path] = set()
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise UsageError(f"{error.name} is not installed") from error
        loaded = loaded_runtimes()
        new = [short(file) for file in loaded if file not in before]
        print(f"import {name}: {', '.join(new) or 'no other OpenMP runtime'}", flush=True)
        before.update(loaded)
    print(f"loaded: {len(before)}")
    print(f"installed: {', '.join(map(short, installed_runtimes())) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
