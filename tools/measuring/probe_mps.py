"""Say whether this machine's Apple GPU can really compute, and hide it from PyTorch where it cannot.

A virtual Mac may answer `torch.backends.mps.is_available()` with True and then fail on the first allocation
with "MPS backend out of memory (MPS allocated: 0 bytes ...)", as GitHub's do (actions/runner-images#9918).
There `--hide-if-unusable` puts a start-up file into this environment, after which PyTorch reports no MPS, in
the scripts that tests start, too. It changes only the environment of a CI run: on a person's Mac it would
switch MPS off without a word.
"""

import argparse
import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
TRIAL_SECONDS = 300

# Run by every Python that starts in the environment, before any import: it waits for torch's compiled module,
# so that programs without PyTorch stay fast. torch.backends.mps, torch.mps and torch.accelerator all call the
# one function that it replaces. So they report what they do on a Mac without a usable GPU, and they remain
# the objects that torch._dynamo expects (it reads torch.backends.mps.is_available.__wrapped__).
HIDING = '''\
"""Makes PyTorch report that there is no MPS. Written by probe_mps.py; `make clean` removes it."""
import sys
from importlib.machinery import PathFinder


class HideMps:
    """Replaces the function of torch._C that says whether there is MPS, once it is loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch._C":
            return None
        spec = PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module

        def load_and_hide(module):
            load(module)
            module._mps_is_available = lambda: False

        spec.loader.exec_module = load_and_hide
        return spec


sys.meta_path.insert(0, HideMps)
'''


def describe_machine() -> str:
    """Return chip, system and versions in one line."""
    chip = platform.processor() or platform.machine()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        chip = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        system = f"macOS {platform.mac_ver()[0]}"
    else:
        system = f"{platform.system()} {platform.release()}"
    return f"{chip}, {system}, Python {platform.python_version()}, PyTorch {torch.__version__}"


def train_three_steps(device: str) -> float:
    """Train a small network for three steps; return the last loss. Raises whatever the device raises."""
    torch.manual_seed(0)
    images = torch.randn(64, 3, 64, 64)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1)
    )
    images, model = images.to(device), model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        loss = (model(images) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def why_unusable(device: str, available: bool) -> str | None:
    """Return why `device` cannot train, or None when it can. `available` is what PyTorch claims.

    The device is tried in a process of its own: Metal ends programs that it does not like, or hangs.
    """
    if not available:
        return "torch.backends.mps.is_available() is False"
    command = [sys.executable, __file__, "--train-on", device]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"is_available() is True, but three training steps take more than {TRIAL_SECONDS} s"
    if trial.returncode:
        reason = (trial.stderr.strip() or f"ended with {trial.returncode}").splitlines()[-1]
        return f"is_available() is True, but training fails: {reason}"
    loss, expected = float(trial.stdout), train_three_steps("cpu")
    if not abs(loss - expected) <= 1e-3 * abs(expected):
        return f"is_available() is True, but a loss is {loss:.6g} where the CPU has {expected:.6g}"
    return None


def why_kept() -> str | None:
    """Return why nothing may be hidden in this environment, or None where a CI run made it for itself."""
    if os.environ.get("CI") != "true":
        return "CI is not 'true'"
    prefix = Path(sys.prefix).resolve()
    if sys.prefix == sys.base_prefix or ROOT not in prefix.parents:
        return f"{prefix} is not a virtual environment inside {ROOT}"
    return None


def hide_mps(folder: Path) -> None:
    """Write the start-up file into `folder`, the site-packages of an environment."""
    (folder / "hide_mps.py").write_text(HIDING, encoding="utf-8")
    (folder / "hide_mps.pth").write_text("import hide_mps\n", encoding="utf-8")


def why_not_hidden() -> str | None:
    """Return what is wrong with a program that starts after hiding: it finds MPS, or cannot train."""
    program = (
        "import torch; torch.optim.SGD([torch.zeros(1)]).step(); print(torch.backends.mps.is_available())"
    )
    trial = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if trial.returncode:
        return (trial.stderr.strip() or f"ended with {trial.returncode}").splitlines()[-1]
    return None if trial.stdout == "False\n" else f"is_available() is {trial.stdout.strip()}"


def main() -> int:
    """Print the finding, write it into the summary, hide the device if told to; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--hide-if-unusable", action="store_true", help="make PyTorch report no MPS")
    parser.add_argument("--summary", type=Path, help="append the finding to this Markdown file")
    parser.add_argument("--train-on", metavar="DEVICE", help="only print the loss after three steps there")
    options = parser.parse_args()
    if options.train_on:
        print(train_three_steps(options.train_on))
        return 0
    if options.hide_if_unusable and (reason := why_kept()):
        print(
            f"error: --hide-if-unusable is for the environment that a CI run made, and {reason}; "
            "where MPS is hidden already, `make clean` undoes it",
            file=sys.stderr,
        )
        return 2
    available = torch.backends.mps.is_available()
    obstacle = why_unusable("mps", available)
    broken = None
    lines = [describe_machine(), f"torch.backends.mps.is_available(): {available}"]
    if obstacle is None:
        lines.append("MPS computes: the tests run on it.")
    else:
        lines.append(f"MPS is NOT tested here, only the CPU: {obstacle}")
        if options.hide_if_unusable:
            hide_mps(Path(sysconfig.get_path("purelib")))
            if broken := why_not_hidden():
                lines.append(f"Hiding MPS from PyTorch failed: {broken}")
    print("\n".join(lines))
    if options.summary:
        with options.summary.open("a", encoding="utf-8") as summary:
            summary.write("".join(f"- {line}\n" for line in lines))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
