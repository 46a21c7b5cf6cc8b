"""The cells of the notebook for Colab: train there, keep a copy of the run, and go on after a cut.

python snippets/colab_cells.py      where mps-handbook.zip is, or the folder mps-handbook
"""

# --8<-- [start:place]
import shutil
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch

colab = find_spec("google") and find_spec("google.colab")
if colab:
    import_module("google.colab.drive").mount("/content/drive")
kept = Path("/content/drive/MyDrive/runs" if colab else "kept")
kept.mkdir(parents=True, exist_ok=True)
cuda = torch.cuda.is_available()
print("NVIDIA GPU:", torch.cuda.get_device_name() if cuda else "none")
print("copies of the run:", kept)
# --8<-- [end:place]

# --8<-- [start:fetch]
handbook = Path("mps-handbook")
if not handbook.exists():
    shutil.unpack_archive("mps-handbook.zip")
print("the handbook is there:", (handbook / "examples").is_dir())
# --8<-- [end:fetch]

# --8<-- [start:install]
packages = ["scikit-learn", "matplotlib", "tqdm"]
pip = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *packages], check=False)
print("packages are there:", pip.returncode == 0)
# --8<-- [end:install]

# --8<-- [start:train]
run = Path("runs/colab")
program = [sys.executable, "-u", str(handbook / "examples/cifar_optimizers/train.py")]
options = ["--data", "cifar10", "--download"] if cuda else ["--width", "4", "--epochs", "2"]


def train(every: float = 900, cut: str = "nothing") -> None:
    """Train or go on; copy the run to `kept` at the end, and at a line after `every` seconds.

    A line that begins with the word `cut` ends it.
    """
    if (kept / run.name).exists() and not run.exists():
        shutil.copytree(kept / run.name, run)
    command = [*program, *options, "--out", str(run), "--resume", "auto"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        copied = time.monotonic()
        for line in process.stdout or ():
            print(line, end="")
            if line.split()[:1] == [cut]:
                process.terminate()
            if time.monotonic() - copied > every:
                subprocess.run(["cp", "-R", run, kept], check=False)
                copied = time.monotonic()
    subprocess.run(["cp", "-R", run, kept], check=True)


train(cut="1")
# --8<-- [end:train]

# --8<-- [start:again]
shutil.rmtree(run)  # as if Colab had ended the session
train()
# --8<-- [end:again]

# --8<-- [start:home]
saved = torch.load(kept / "colab" / "checkpoints" / "best.pt", map_location="cpu", weights_only=True)
print("in the checkpoint:", ", ".join(sorted(saved)))
size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
print(f"to download: {kept / 'colab'}, {size / 1e6:.1f} MB")
# --8<-- [end:home]
