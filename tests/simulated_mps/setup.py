"""The rest of pyproject.toml: a wheel with compiled devices is for one Python and one kind of machine."""

from pathlib import Path

from setuptools import Distribution, setup

PACKAGE = Path(__file__).parent / "simulated_mps"  # build_wheel.py puts compiled devices into a copy of it


class MaybeCompiled(Distribution):
    """Name the wheel after Python and machine where it carries what was compiled for them."""

    def has_ext_modules(self) -> bool:
        """Return whether anything compiled is packed."""
        return any(PACKAGE.glob("*.so"))


setup(distclass=MaybeCompiled)
