"""Package indexes on disk, of wheels that hold one module each."""

import zipfile
from collections.abc import Iterable
from pathlib import Path


def make_wheel(index: Path, name: str, version: str, code: str = "", needs: Iterable[str] = ()) -> None:
    """Write a wheel that holds one module with a version, and list it in the index."""
    folder = index / name
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{version}"
    info = f"{stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files = {
        f"{name}/__init__.py": f"__version__ = {version!r}\n{code}",
        f"{info}/METADATA": metadata + "".join(f"Requires-Dist: {need}\n" for need in needs),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if name == "torch":
        files["torch/version.py"] = f"__version__ = {version!r}\n"
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    links = sorted(path.name for path in folder.glob("*.whl"))
    (folder / "index.html").write_text("".join(f'<a href="{link}">{link}</a>\n' for link in links))
