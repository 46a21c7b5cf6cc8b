"""A training without PyTorch: a run folder with config, heartbeat and metrics, as quick as a test needs it.

python fake_training.py --out DIR [--resume auto] [--steps N] [--seconds S] [--device D] [--end KIND]
"""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

from examples.programs import run_folder
from examples.programs.command_line import StrictParser
from examples.programs.run_folder import RunFolder, check_new_folder, read_json
from snippets.errors import RunError, UsageError, exit_with_one_line
from snippets.stop_signals import StopSignals


def read_options() -> argparse.Namespace:
    parser = StrictParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", choices=["auto"])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.01, help="of a step")
    parser.add_argument("--device", default="cpu", help="to speak of; there is none")
    parser.add_argument("--end", choices=["abort", "device", "nan"], help="after 5 steps of this process")
    return parser.parse_args()


def end(kind: str | None) -> None:
    """End as a program does in which something fails, or go on."""
    if kind == "abort":
        os.abort()
    if kind == "device":
        raise RuntimeError("MPS backend out of memory")
    if kind == "nan":
        raise RunError("the loss became nan")


def main(argv: None = None) -> int:
    options = read_options()
    begun = (options.out / "config.json").exists()
    if begun and options.resume is None:
        raise UsageError("already holds a run")
    if not begun:
        check_new_folder(options.out)
        options.out.mkdir(parents=True)
    if options.end:
        run_folder.HEARTBEAT_INTERVAL = 0.0  # the next process goes on where this one ends
    with StopSignals() as stop, RunFolder(options.out) as run:
        first = (read_json(options.out / "heartbeat.json") or {}).get("step") or 0
        if not begun:
            command = f"python {Path(__file__).name} --out x"
            provenance = {"kernel": platform.release(), "command": command}
            run.write_config({"system": "fake", "provenance": provenance, "options": {}})
        run.beat("running", step=first, total_steps=options.steps, device=options.device, precision="fp32")
        for step in range(first + 1, options.steps + 1):
            time.sleep(options.seconds)
            run.log(step=step, loss=1 / step, lr=0.1, samples_per_s=5.0)
            run.beat(step=step, loss=1 / step, samples_per_s=5.0, eta_s=9.0, memory_mb=12.0)
            if step == first + 5:
                end(options.end)
            if stop.received:
                run.beat("interrupted")
                return 128 + stop.received
        run.beat("finished", eta_s=0.0)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
