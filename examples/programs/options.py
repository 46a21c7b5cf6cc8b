"""The options that all training programs share, and what a run that is continued may change of them."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from examples.programs.command_line import FLAGS, Spelling, expanded, number, whole_number
from snippets.device import pick_device
from snippets.errors import Option, UsageError
from snippets.precision import NAMES as PRECISIONS
from snippets.precision import pick_precision


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Every option with the value that holds in a run. A system adds its own and gives all a default."""

    device: str = "auto"
    precision: str = "auto"
    compile: bool = False
    data: str
    epochs: int
    max_steps: int | None = None  # None: as many as the epochs have
    batch_size: int  # samples per forward and backward pass
    accumulate: int = 1  # passes per step
    lr: float
    weight_decay: float
    seed: int = 0
    workers: int = 0

    # Where and how fast a run computes may change when it is resumed; everything else decides its result. Any
    # number of workers brings the same batches.
    MAY_CHANGE: ClassVar[frozenset[str]] = frozenset({"device", "compile", "data", "workers"})
    DERIVED: ClassVar[frozenset[str]] = frozenset()  # what follows from others and has no flag

    def decisive(self) -> dict[str, Any]:
        """Return the options that decide the result of a run."""
        return {name: value for name, value in asdict(self).items() if name not in self.MAY_CHANGE}


Options = TypeVar("Options", bound=TrainingOptions)


def add_training_options(parser: argparse.ArgumentParser, defaults: dict[str, str]) -> None:
    """Add the common flags to `parser`; `defaults` says in words what is taken when a flag is left out."""

    def add(flag: str, what: str, **settings: Any) -> None:
        default = defaults.get(flag.removeprefix("--"))
        parser.add_argument(flag, help="; ".join(filter(None, (what, default))), **settings)

    add("--device", "auto: CUDA, then MPS, then CPU", choices=("auto", "mps", "cuda", "cpu"))
    add("--precision", "auto: bf16 on CUDA GPUs that have it, else fp32", choices=PRECISIONS)
    compile_or_not = {"action": argparse.BooleanOptionalAction, "default": None}
    add("--compile", "torch.compile, if it works and gives the same values", **compile_or_not)
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
    """Return the options that were typed, without defaults. Raises UsageError."""
    typed = vars(parser.parse_args(argv))
    return {name: value for name, value in typed.items() if value is not None}


def with_precision(options: Options) -> Options:
    """Return the options with the format that "auto" means on their device. Raises UsageError."""
    if options.precision != "auto":
        return options
    return replace(options, precision=pick_precision("auto", pick_device(options.device)[0]).name)


def saved_options(config: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the run with `config`. Older ones kept "auto", and the format in words."""
    options = config["options"]
    if options.get("precision") != "auto":
        return options
    return options | {"precision": str(config.get("precision", "auto")).partition(" ")[0]}


class KnownOptions(Protocol):
    """A dataclass of the options that a program has."""

    DERIVED: ClassVar[frozenset[str]]  # what follows from others and has no flag
    __dataclass_fields__: ClassVar[dict[str, Any]]


def check_saved(
    config: dict[str, Any],
    read_command_line: Callable[[list[str]], dict[str, Any]],
    known: type[KnownOptions],
    source: Path,
    spelling: Spelling = FLAGS,
) -> None:
    """Raise UsageError unless the options in `config` could have been typed: somebody may have edited it.

    `known` is the class of the program's options, `source` the file that `config` is from.
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
    for name, value in saved.items():  # a text that looks like a number is not the number
        meant = value if name in known.DERIVED else typed.get(name, defaults[name])
        if value != meant:
            raise UsageError(f"{source} was changed: ", Option(name), f" is {value!r:.40} there")


def same_run(options: TrainingOptions, config: dict[str, Any]) -> bool:
    """Return whether the run with `config` was given the same data and options that decide its result."""
    if not isinstance(config.get("options"), dict):
        return False
    saved, wanted = saved_options(config), options.decisive() | {"data": options.data}
    return all(saved.get(name) == value for name, value in wanted.items())


def options_to_continue(
    config: dict[str, Any], typed: dict[str, Any], resolve: Callable[[dict[str, Any]], Options], folder: Path
) -> Options:
    """Return the options of the run in `folder`, which has `config`, with those that may change.

    Raises UsageError when another one was typed.
    """
    saved = saved_options(config)
    if typed.get("precision") == "auto":  # the one that the run has
        typed = typed | {"precision": saved.get("precision")}
    if "quick" in typed and not is_quick(saved, resolve):
        reason = f" is for new runs, and the one in {folder} is longer; leave it out"
        raise UsageError(Option("quick"), reason)
    options = resolve(saved | typed)
    check_same_options(saved, options.decisive(), folder)
    return options


def is_quick(saved: dict[str, Any], resolve: Callable[[dict[str, Any]], Options]) -> bool:
    """Return whether a run with the options `saved` is as short as `--quick` makes it."""
    most, steps = resolve({"quick": True}).max_steps, saved.get("max_steps")
    return most is not None and steps is not None and steps <= most


def check_same_options(saved: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Raise UsageError naming the first option in `wanted` whose value differs from the saved run's."""
    for name, value in wanted.items():
        if name in saved and saved[name] != value:
            raise UsageError(
                Option(name.removesuffix("_name")),  # data_name is what --data turned out to be
                f" is {value} here but {saved[name]} in the run in {folder}; "
                "leave it out to continue that run, or start a new one with another ",
                Option("out"),
            )
