"""The files of docs/data/data_forms/floorplan_diffusion.yaml that are no text."""

import numpy
from matplotlib.image import imsave

from examples.floorplan_diffusion.generated_plans import generate_plans
from tests.examples.floorplan_diffusion.data_files import make_plans
from tests.examples.floorplan_diffusion.published import entry_of


def our_arrays(folder):
    """Write our three files."""
    for split in ("train", "val", "test"):
        make_plans(folder / f"{split}.npz")


def gsdiff_files(folder):
    """Write three plans as GSDiff's rplan-process4.py does, one pickled dictionary each."""
    for number, plan in enumerate(generate_plans(3, 0)):
        numpy.save(folder / f"{number}.npy", entry_of(plan))


def rplan_pictures(folder):
    """Write a picture of RPLAN's shape: 256 × 256 pixels of four channels."""
    imsave(folder / "0.png", numpy.zeros((256, 256, 4), dtype=numpy.uint8))


def dwg_file(folder):
    """Write the first bytes of a DWG file: its version."""
    (folder / "flat.dwg").write_bytes(b"AC1032" + bytes(64))
