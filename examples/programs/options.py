"""The options of all training programs, and which of them a resumed run may change."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from examples.programs.command_line import FLAGS, Spelling, expanded, number, whole_number
from examples.programs.speed import MEASURED, SWITCHES
from snippets.device import pick_device
from snippets.errors import Option, UsageError
from snippets.precision import NAMES as PRECISIONS
from snippets.precision import pick_precision

ON_OR_OFF: dict[str, Any] = {"action": argparse.BooleanOptionalAction, "default": None}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """All options of a run with their final values. A system adds its own and sets the defaults."""

    device: str = "auto"
    precision: str = "auto"
    compile: bool = False
    graphs: bool = False
    fused: bool = False
    tf32: bool = False
    data: str
    epochs: int
    max_steps: int | None = None  # None: no limit but the epochs
    batch_size: int  # samples per forward and backward pass
    accumulate: int = 1  # passes per step
    lr: float
    weight_decay: float
    seed: int = 0
    workers: int = 0

    # A resumed run may change where and how fast it computes; all other options affect its result. The
    # batches do not depend on the number of workers.
    MAY_CHANGE: ClassVar[frozenset[str]] = frozenset({"device", "data", "workers", *SWITCHES})
    DERIVED: ClassVar[frozenset[str]] = frozenset()  # options that follow from others and have no flag

    def decisive(self) -> dict[str, Any]:
        """Return the options that affect the result of a run."""
        return {name: value for name, value in asdict(self).items() if name not in self.MAY_CHANGE}


Options = TypeVar("Options", bound=TrainingOptions)


def add_training_options(parser: argparse.ArgumentParser, defaults: dict[str, str]) -> None:
    """Add the common flags to `parser`; `defaults` describes their default values for --help."""

    def add(flag: str, what: str, **settings: Any) -> None:
        default = defaults.get(flag.removeprefix("--"))
        parser.add_argument(flag, help="; ".join(filter(None, (what, default))), **settings)

    add("--device", "auto: CUDA, then MPS, then CPU", choices=("auto", "mps", "cuda", "cpu"))
    add("--precision", "auto: bf16 on CUDA GPUs that have it, else fp32", choices=PRECISIONS)
    for switch, what in SWITCHES.items():
        add(f"--{switch}", what, **ON_OR_OFF)
    add("--data", "what to learn from", metavar="NAME|FOLDER")
    add("--epochs", "passes over the data", type=whole_number(1, 100_000))
    add("--max-steps", "stop earlier; the schedule ends there too", type=whole_number(1, 10**9))
    add("--batch-size", "samples per forward and backward pass", type=whole_number(1, 10**6))
    add("--accumulate", "passes whose gradients make one step; 1", type=whole_number(1, 10**6))
    add("--lr", "learning rate", type=number(0, 1000, above=True))
    add("--weight-decay", "pulls the weights towards 0", type=number(0, 1000))
    add("--seed", "of everything random", type=whole_number(0, 2**32 - 1))
    add("--workers", "processes that prepare batches; 0: none", type=whole_number(0, 128))
    add("--out", "folder of the run", type=expanded, metavar="DIR")
    add("--resume", "continue a run; auto: the one in --out or the newest equal one", metavar="auto|PATH")
    add("--quick", "a few steps, to see that everything runs", action="store_true", default=None)


def typed_options(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options on the command line, without defaults. Raises UsageError."""
    typed = vars(parser.parse_args(argv))
    return {name: value for name, value in typed.items() if value is not None}


def with_precision(options: Options) -> Options:
    """Return the options with the precision "auto" resolved for their device. Raises UsageError."""
    if options.precision != "auto":
        return options
    return replace(options, precision=pick_precision("auto", pick_device(options.device)[0]).name)


def saved_options(config: dict[str, Any]) -> dict[str, Any]:
    """Return the options in `config`. Configs of older runs stored precision "auto" and a description."""
    options = config["options"]
    if options.get("precision") != "auto":
        return options
    return options | {"precision": str(config.get("precision", "auto")).partition(" ")[0]}


class KnownOptions(Protocol):
    """A dataclass of the options of a program."""

    DERIVED: ClassVar[frozenset[str]]  # options that follow from others and have no flag
    __dataclass_fields__: ClassVar[dict[str, Any]]


def check_saved(
    config: dict[str, Any],
    read_command_line: Callable[[list[str]], dict[str, Any]],
    known: type[KnownOptions],
    source: Path,
    spelling: Spelling = FLAGS,
) -> None:
    """Raise UsageError unless the command line accepts the options in `config`, which may have been edited.

    `known` is the class of the program's options, `source` the file of `config`.
    """
    saved, defaults = saved_options(config), {field.name: field.default for field in fields(known)}
    unknown = saved.keys() - defaults
    if unknown:
        raise UsageError(
            f"{source} was made by another version of this program: it has ", Option(min(unknown))
        )
    try:
        typed = read_command_line(
            spelling.words({name: value for name, value in saved.items() if name not in known.DERIVED})
        )
    except UsageError as error:
        raise UsageError(f"{source} was changed: {error}") from None
    for name, value in saved.items():  # a string that looks like a number is not a number
        meant = value if name in known.DERIVED else typed.get(name, defaults[name])
        if value != meant:
            raise UsageError(f"{source} was changed: ", Option(name), f" is {value!r:.40} there")


def of_this_version(saved: Any, known: type[KnownOptions]) -> bool:
    """Return whether `saved` has the options `known`; switches of speed are newer, and may be missing."""
    names = {field.name for field in fields(known)}
    return isinstance(saved, dict) and names - set(MEASURED) <= saved.keys() <= names


def same_run(options: TrainingOptions, config: dict[str, Any]) -> bool:
    """Return whether the run with `config` has the same data and the same options that affect its result."""
    if not isinstance(config.get("options"), dict):
        return False
    saved, wanted = saved_options(config), options.decisive() | {"data": options.data}
    return all(saved.get(name) == value for name, value in wanted.items())


def options_to_continue(
    config: dict[str, Any], typed: dict[str, Any], resolve: Callable[[dict[str, Any]], Options], folder: Path
) -> Options:
    """Return the options in `config`, of the run in `folder`, updated by typed ones that may change.

    Raises UsageError when an option that may not change was typed with another value.
    """
    saved = saved_options(config)
    if typed.get("precision") == "auto":  # keep that of the run
        typed = typed | {"precision": saved.get("precision")}
    if "quick" in typed and not is_quick(saved, resolve):
        reason = f" is for new runs, and the one in {folder} is longer; leave it out"
        raise UsageError(Option("quick"), reason)
    options = resolve(saved | typed)
    check_same_options(saved, options.decisive(), folder)
    return options


def is_quick(saved: dict[str, Any], resolve: Callable[[dict[str, Any]], Options]) -> bool:
    """Return whether the options `saved` are those of a run with `--quick`."""
    most, steps = resolve({"quick": True}).max_steps, saved.get("max_steps")
    return most is not None and steps is not None and steps <= most


def check_same_options(saved: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Raise UsageError for the first option in `wanted` whose value differs from the saved run's."""
    for name, value in wanted.items():
        if name in saved and saved[name] != value:
            raise UsageError(
                Option(name.removesuffix("_name")),  # data_name is the data set that --data means
                f" is {value} here but {saved[name]} in the run in {folder}; "
                "leave it out to continue that run, or start a new one with another ",
                Option("out"),
            )
