"""The training systems of this handbook: the one file that knows them by name.

    python examples/systems.py                                      list systems and programs
    python examples/systems.py cifar_optimizers --quick             train with its programs, in order
    python examples/systems.py indicator_transformer/train --quick  with one of them
    python examples/systems.py --known NAME                         check that a system or program exists

All tools for every system read it: the Makefile, benchmark, profile, monitor, tests and tables of the pages.
It needs only Python.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
Settings = Mapping[str, Any]  # options by their shared names, such as {"max_steps": 3, "compile": True}


class UnknownSystem(ValueError):
    """No system or program has this name; the message lists the known ones."""


@dataclass(frozen=True)
class Program:
    """A training script, and how to run it."""

    name: str  # of its file, without .py
    tiny: Settings  # options of a minimal training, for tests
    speaks_hydra: bool = False  # `max_steps=3` instead of `--max-steps 3`

    def words(self, settings: Settings) -> list[str]:
        """Return the command-line words for options by their shared names.

        True turns a switch on; None and False are left out.
        """
        words = []
        for name, value in settings.items():
            if value is None or value is False:
                continue
            if self.speaks_hydra:
                words.append(f"{name}={'true' if value is True else value}")
            else:
                words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        return words


@dataclass(frozen=True)
class MeasuredTraining:
    """A training whose loop is measured (tools/measuring/measure.py)."""

    name: str
    title: Mapping[str, str]  # in the tables of both languages; {width} and {batch} are those of the training
    settings: Settings
    epochs: int  # enough to train on after the last checkpoint; 0: the cost of saving is not measured
    gpu: bool = False  # on a GPU; otherwise on a CPU
    program: str | None = None  # None: the only one of the system


@dataclass(frozen=True)
class System:
    """A folder of examples/: its programs in training order, and its pages."""

    name: str
    programs: tuple[Program, ...]
    folder_of_pages: str  # under docs/<language>/examples
    measured: tuple[MeasuredTraining, ...] = field(default=())
    beside: tuple[str, ...] = ()  # further files that commands on its pages run
    convolutions: bool = False  # the speed tables then show whether a GPU computed them in TF32

    @property
    def pages(self) -> tuple[str, ...]:
        """Return its pages under docs/<language>, the one to begin with first."""
        return tuple(f"examples/{self.folder_of_pages}/{page}.md" for page in PAGES)

    def script(self, program: Program) -> Path:
        """Return the file of a program."""
        return FOLDER / self.name / f"{program.name}.py"


PAGES = ("index", "data", "how-it-works", "results", "source-guide")  # of each system
WIDE_IMAGES = {"data": "synthetic", "image_size": 32, "width": 64, "batch_size": 128}
FEW_PLANS = {"plans": 28, "width": 16, "layers": 1, "batch_size": 4, "epochs": 3}
FEW_SEQUENCES = {
    "dataset.sequences": 48,
    "dataset.max_length": 24,
    "model.config.d_model": 8,
    "model.config.d_state": 2,
    "batch_size": 6,
    "epochs": 3,
}
GUIDE_SEQUENCES = {"model": "caduceus", "dataset.max_length": 512, "batch_size": 128, "lr": 1e-3}
GUIDE_NODES = {"size": "origin", "batch_size": 256, "optimizer": "adamw", "lr": 1e-4}
GUIDE_EDGES = {"size": "origin", "batch_size": 8, "lr": 1e-4, "plans": 400}

# What tables call the measured trainings.
DIGITS = {"en": "16×16 digits, width 8, batch size 64", "zh": "16×16 数字图片，宽度 8，批大小 64"}
IMAGES = {
    "en": "generated 32×32 images, width {width}, batch size {batch}",
    "zh": "生成的 32×32 图片，宽度 {width}，批大小 {batch}",
}
INDICATORS = {
    "en": "indicators, 36,130 parameters, batch size 64",
    "zh": "技术指标，36,130 个参数，批大小 64",
}
LARGE_INDICATORS = {
    "en": "indicators, 4,894,082 parameters, batch size 16",
    "zh": "技术指标，4,894,082 个参数，批大小 16",
}
TOWERS = {"en": "two towers, 759,168 parameters, batch size 64", "zh": "双塔，759,168 个参数，批大小 64"}
LARGE_TOWERS = {
    "en": "two towers, 37,452,544 parameters, batch size 256",
    "zh": "双塔，37,452,544 个参数，批大小 256",
}
NODES = {
    "en": "floor plans, stage 1, 233,418 parameters, batch size 64",
    "zh": "户型图阶段 1，233,418 个参数，批大小 64",
}
LARGE_NODES = {
    "en": "floor plans, stage 1, 19,460,874 parameters, batch size 256",
    "zh": "户型图阶段 1，19,460,874 个参数，批大小 256",
}
EDGES = {
    "en": "floor plans, stage 2, 157,955 parameters, batch size 16",
    "zh": "户型图阶段 2，157,955 个参数，批大小 16",
}
LARGE_EDGES = {
    "en": "floor plans, stage 2, 9,598,211 parameters, batch size 8",
    "zh": "户型图阶段 2，9,598,211 个参数，批大小 8",
}
BASES = {
    "en": "masked bases, 9,664 parameters, batch size 64, Lightning's loop",
    "zh": "掩码碱基，9,664 个参数，批大小 64，Lightning 的循环",
}
CLASSES = {
    "en": "DNA classes, 9,728 parameters, batch size 64, Lightning's loop",
    "zh": "DNA 分类，9,728 个参数，批大小 64，Lightning 的循环",
}
LARGE_CLASSES = {
    "en": "DNA classes, 470,938 parameters, 512 bases, batch size 128, Lightning's loop",
    "zh": "DNA 分类，470,938 个参数，512 个碱基，批大小 128，Lightning 的循环",
}

SYSTEMS = (
    System(
        "cifar_optimizers",
        programs=(
            Program(
                "train",
                tiny={
                    "data": "synthetic",
                    "image_size": 8,
                    "width": 2,
                    "data_fraction": 0.1,
                    "batch_size": 50,
                    "epochs": 3,
                },
            ),
        ),
        folder_of_pages="cifar-optimizers",
        beside=("snippets/digit_pictures.py",),
        measured=(
            MeasuredTraining("digits", DIGITS, {}, epochs=10),
            MeasuredTraining("synthetic", IMAGES, {"data": "synthetic", "image_size": 32}, epochs=10),
            MeasuredTraining("digits", DIGITS, {}, epochs=300, gpu=True),
            MeasuredTraining("synthetic", IMAGES, WIDE_IMAGES, epochs=200, gpu=True),
        ),
        convolutions=True,
    ),
    System(
        "indicator_transformer",
        programs=(Program("train", tiny={"bars": 3000, "stride": 8, "batch_size": 16, "epochs": 3}),),
        folder_of_pages="indicator-transformer",
        measured=(
            MeasuredTraining("small", INDICATORS, {}, epochs=6),
            MeasuredTraining("small", INDICATORS, {}, epochs=60, gpu=True),
            MeasuredTraining(
                "origin",
                LARGE_INDICATORS,
                {"size": "origin", "batch_size": 16, "bars": 60_000},
                epochs=60,
                gpu=True,
            ),
        ),
    ),
    System(
        "two_tower",
        programs=(
            Program(
                "train",
                tiny={
                    "data": "generated",
                    "rows": 300,
                    "width": 8,
                    "batch_size": 32,
                    "epochs": 3,
                    "tower": "ssm",
                },
            ),
        ),
        folder_of_pages="two-tower",
        measured=(
            MeasuredTraining("pages", TOWERS, {}, epochs=8),
            MeasuredTraining("pages", TOWERS, {}, epochs=60, gpu=True),
            MeasuredTraining(
                "origin", LARGE_TOWERS, {"size": "origin", "batch_size": 256}, epochs=0, gpu=True
            ),
        ),
    ),
    System(
        "floorplan_diffusion",
        programs=(
            Program("train_nodes", tiny=FEW_PLANS),
            Program("train_edges", tiny=FEW_PLANS),
        ),
        folder_of_pages="floorplan-diffusion",
        beside=("snippets/own_floor_plans.py",),
        measured=(
            MeasuredTraining("small", NODES, {}, epochs=6, program="train_nodes"),
            MeasuredTraining("small", NODES, {}, epochs=24, gpu=True, program="train_nodes"),
            MeasuredTraining("origin", LARGE_NODES, GUIDE_NODES, epochs=0, gpu=True, program="train_nodes"),
            MeasuredTraining("small", EDGES, {}, epochs=2, program="train_edges"),
            MeasuredTraining("small", EDGES, {}, epochs=8, gpu=True, program="train_edges"),
            MeasuredTraining("origin", LARGE_EDGES, GUIDE_EDGES, epochs=0, gpu=True, program="train_edges"),
        ),
    ),
    System(
        "genomic_caduceus",
        programs=(
            Program("pretrain", tiny=FEW_SEQUENCES, speaks_hydra=True),
            Program("train", tiny=FEW_SEQUENCES, speaks_hydra=True),
        ),
        folder_of_pages="genomic-caduceus",
        measured=(
            MeasuredTraining("small", BASES, {}, epochs=3, program="pretrain"),
            MeasuredTraining("small", BASES, {}, epochs=12, gpu=True, program="pretrain"),
            MeasuredTraining("small", CLASSES, {}, epochs=3, program="train"),
            MeasuredTraining("small", CLASSES, {}, epochs=12, gpu=True, program="train"),
            MeasuredTraining("origin", LARGE_CLASSES, GUIDE_SEQUENCES, epochs=0, gpu=True, program="train"),
        ),
    ),
)


def find(name: str) -> tuple[System, tuple[Program, ...]]:
    """Return the programs of `system`, or the one of `system/program`. Raises UnknownSystem."""
    wanted, _, script = name.partition("/")
    for system in SYSTEMS:
        programs = tuple(program for program in system.programs if script in ("", program.name))
        if system.name == wanted and programs and not name.endswith("/"):
            return system, programs
    raise UnknownSystem(f"{name!r} is unknown; choose one of: {', '.join(names())}")


def modules() -> dict[str, str]:
    """Return the module of every program, by `system`, or by `system/program` where there are several."""
    return {
        system.name if len(system.programs) == 1 else f"{system.name}/{program.name}": (
            f"examples.{system.name}.{program.name}"
        )
        for system in SYSTEMS
        for program in system.programs
    }


def measured_trainings(name: str) -> tuple[MeasuredTraining, ...]:
    """Return the measured trainings of the system or program `name`. Raises UnknownSystem."""
    system, programs = find(name)
    wanted = {None, *(program.name for program in programs)}
    return tuple(case for case in system.measured if case.program in wanted)


def names() -> list[str]:
    """Return all names for `find`: systems, and `system/program` where a system has several."""
    return sorted({system.name for system in SYSTEMS} | modules().keys())


def train(name: str, words: Sequence[str]) -> int:
    """Train with each program of `name` until one fails; return its exit code, or 0."""
    system, programs = find(name)
    for program in programs:
        code = run([sys.executable, str(system.script(program)), *words])
        if code:
            return code
    return 0


def run(command: Sequence[str]) -> int:
    """Run a training program to its end; return its exit code, which is 128 + N after signal N.

    A training finishes its step and saves after a signal, so this process waits for it. Ctrl-C reaches both;
    SIGTERM is forwarded.
    """
    process = subprocess.Popen(command)
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, _: process.send_signal(number)),
    }
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def main(argv: Sequence[str] | None = None) -> int:
    """List the systems, or train with one; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in ([], ["-h"], ["--help"]):
        print(*([__doc__] if words else []), *names(), sep="\n")
        return 0
    try:
        if words[0] == "--known":
            find("".join(words[1:2]))
            return 0
        return train(words[0], words[1:])
    except UnknownSystem as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
