"""The options of both programs: their paths in the configuration, parsers and descriptions."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from omegaconf import OmegaConf

from examples.genomic_caduceus.data_sources import find_data
from examples.genomic_caduceus.hydra_words import (
    GROUPS,
    ONE_VALUE,
    Key,
    compose_config,
    composed_values,
    literal,
    one_of,
    or_null,
    overrides_in,
    path_of,
    spelt,
    switch,
)
from examples.genomic_caduceus.pretrained import options_of, run_named
from examples.genomic_caduceus.sequence_tables import holds_places, refuse_places
from examples.programs.command_line import Spelling, expanded, number, whole_number
from examples.programs.options import TrainingOptions
from examples.programs.speed import SWITCHES
from snippets.errors import Option, UsageError
from snippets.precision import NAMES as PRECISIONS

# Lightning's names of precisions: up to 1.9 plain numbers, since 2.0 with the treatment of the weights.
LIGHTNING_PRECISIONS = {
    "32": "fp32",
    "32-true": "fp32",
    "16": "fp16",
    "16-mixed": "fp16",
    "bf16-mixed": "bf16",
}
QUICK = {"epochs": 1, "max_steps": 10, "width": 16, "layers": 1, "state": 2, "sequences": 200}


@dataclass(frozen=True, kw_only=True)
class GenomicOptions(TrainingOptions):
    """All options that both programs share, with their final values."""

    data_name: str  # the name of generated data, "folder", "file" or "genome"
    sequences: int | None = None  # to generate; None for other data
    length: int | None = None  # tokens of a sequence; None: those of the longest sequence
    width: int
    layers: int
    state: int
    rcps: bool = True
    stack_strands: bool = False
    rc_aug: bool = False
    conjoin_test: bool = False
    clip: float | None = 1.0
    warmup: float = 0.01
    pin_memory: bool = False
    drop_last: bool = True
    deterministic: bool = False
    benchmark: bool = False
    devices: int = 1
    loop: str = "plain"
    logger: str = "none"

    DERIVED: ClassVar[frozenset[str]] = frozenset({"data_name"})
    MAY_CHANGE: ClassVar[frozenset[str]] = TrainingOptions.MAY_CHANGE | {
        "pin_memory",
        "benchmark",
        "loop",
        "logger",
    }


@dataclass(frozen=True, kw_only=True)
class FineTuningOptions(GenomicOptions):
    """All options of train.py."""

    pretrained: str | None = None
    reference: str | None = None

    MAY_CHANGE: ClassVar[frozenset[str]] = GenomicOptions.MAY_CHANGE | {"reference"}


@dataclass(frozen=True, kw_only=True)
class PretrainingOptions(GenomicOptions):
    """All options of pretrain.py."""

    mlm_probability: float = 0.15
    intervals: str | None = None


DEVICES = one_of("auto", "mps", "cuda", "cpu", former={"gpu": "cuda"})
FORMATS = one_of(*PRECISIONS, former=LIGHTNING_PRECISIONS)
KEYS = {
    "device": Key("trainer.accelerator", DEVICES, "auto: CUDA, then MPS, then CPU"),
    "precision": Key("trainer.precision", FORMATS, "auto: bf16 on CUDA GPUs that have it, else fp32"),
    **{name: Key(name, switch, what) for name, what in SWITCHES.items()},
    "data": Key("data", str, "what to learn from: a name, a folder or a file"),
    "epochs": Key("trainer.max_epochs", whole_number(1, 100_000), "passes over the data"),
    "max_steps": Key("trainer.max_steps", or_null(whole_number(1, 10**9)), "stop earlier"),
    "batch_size": Key("dataset.batch_size", whole_number(1, 10**6), "sequences per pass"),
    "accumulate": Key("trainer.accumulate_grad_batches", whole_number(1, 10**6), "passes per step"),
    "lr": Key("optimizer.lr", number(0, 1000, above=True), "highest learning rate"),
    "weight_decay": Key("optimizer.weight_decay", number(0, 1000), "pulls the weights towards 0"),
    "seed": Key("train.seed", whole_number(0, 2**32 - 1), "of everything random"),
    "workers": Key("dataset.num_workers", whole_number(0, 128), "processes that prepare batches", 0),
    "sequences": Key("dataset.sequences", or_null(whole_number(20, 10**7)), "number to generate"),
    "length": Key("dataset.max_length", or_null(whole_number(16, 2**20)), "longest sequence; cut behind it"),
    "width": Key("model.config.d_model", whole_number(1, 8192), "of the layers"),
    "layers": Key("model.config.n_layer", whole_number(1, 256), "number of them"),
    "state": Key("model.config.d_state", whole_number(1, 1024), "values that each channel remembers"),
    "rcps": Key("model.config.rcps", switch, "both strands through the network (PS), or one (Ph)"),
    "stack_strands": Key("model.config.stack_strands", switch, "both in one call: equal but for rounding"),
    "rc_aug": Key("dataset.rc_aug", switch, "turn every second sequence around at random"),
    "conjoin_test": Key("model.conjoin_test", switch, "average both strands when evaluating"),
    "clip": Key(
        "trainer.gradient_clip_val", or_null(number(0, 1e6, above=True)), "highest norm of gradients"
    ),
    "warmup": Key("scheduler.warmup", number(0, 1, below=True), "share of the steps in which the rate rises"),
    "pin_memory": Key("dataset.pin_memory", switch, "changes nothing on a Mac", False),
    "drop_last": Key("dataset.drop_last", switch, "incomplete batches of training are left out", True),
    "deterministic": Key("trainer.deterministic", switch, "refuse operations whose result varies"),
    "benchmark": Key("trainer.benchmark", switch, "of cuDNN: changes nothing on a Mac"),
    "devices": Key("trainer.devices", whole_number(1, 1), "1: a Mac has one GPU"),
    "loop": Key("trainer.loop", one_of("plain", "lightning"), "ours, or that of PyTorch Lightning"),
    "logger": Key("logger", one_of("none", "csv", "tensorboard"), "another record of the metrics"),
}
PRETRAINED = Key(
    "train.pretrained",
    or_null(path_of),
    "begin from a run of pretrain.py (its folder, or newest) or from published weights",
)
MASKED = Key("dataset.mlm_probability", number(0, 1, above=True, below=True), "share of bases to guess", 0.15)
INTERVALS = Key("dataset.intervals", or_null(path_of), "BED file with the windows of a genome", None)
REFERENCE = Key(
    "dataset.reference", or_null(path_of), "for places in genomes: a FASTA file, A.fa,B.fa or a folder", None
)
OF_THE_CALL = {
    "out": Key("out", expanded, "folder of the run"),
    "resume": Key("resume", str, "continue a run: its folder; auto: the one in out or the newest equal one"),
    "quick": Key("quick", switch, "a few steps, to see that everything runs"),
}
SHARED_NAMES = {field.name for field in fields(TrainingOptions)} | OF_THE_CALL.keys()
GLOBAL_BATCH = Key("train.global_batch_size", whole_number(1, 10**12), "sequences per step")
FORMULA = (GLOBAL_BATCH.path, "dataset.dataset_name")  # keys from which others are computed


Kind = TypeVar("Kind", bound=GenomicOptions)


class CommandLine(NamedTuple, Generic[Kind]):
    """The command line of a program: its name and purpose, its file in configs/, its options."""

    program: str
    what: str
    file: str
    kind: type[Kind]
    keys: dict[str, Key]

    def read(self, argv: Sequence[str] | None) -> dict[str, Any]:
        """Return the options that the words set, without unchanged defaults. Raises UsageError.

        An option is set when its key is in a word, or when a chosen file (experiment=…) changes it.
        """
        words = list(argv or ())
        self.answer_flags(words)
        named, defaults = self.named(words), self.values([])
        values = self.values(words)
        self.check_global_batch(values, named)
        typed = {}
        for option, key in (self.keys | OF_THE_CALL).items():
            found = values[key.path]
            if option in named and str(values.get(option, found)) != str(found):  # NaN is not equal to itself
                raise UsageError(
                    f"{option}={values[option]} has no effect: {key.path} is {found} here; set that instead"
                )
            if option in named or key.path in named or found != defaults[key.path]:
                typed[option] = self.value(key, found, option if option in named else key.path)
        unset = {option for option in OF_THE_CALL if typed.get(option) in (None, False)}
        return {option: value for option, value in typed.items() if option not in unset}

    def named(self, words: Sequence[str]) -> set[str]:
        """Return the keys that the words set. Raises UsageError for an unknown one."""
        named = {override.key_or_group for override in overrides_in(words)}
        if unknown := sorted(named - self.known() - GROUPS):
            raise UsageError(f"unknown key {unknown[0]}; keys: {' '.join(sorted(self.known() | GROUPS))}")
        return named

    def check_global_batch(self, values: Mapping[str, Any], named: set[str]) -> None:
        """Raise UsageError unless a step's batch is a multiple of that of a pass, and fits `accumulate`."""
        passes, size = KEYS["accumulate"], KEYS["batch_size"]
        part = values[size.path]
        if not isinstance(part, int) or part < 1:
            return  # its own parser will raise the error
        whole = self.value(GLOBAL_BATCH, values[GLOBAL_BATCH.path], GLOBAL_BATCH.path)
        if not named & {"accumulate", passes.path}:
            if whole % part:
                raise UsageError(
                    f"{GLOBAL_BATCH.path}={whole} is no multiple of {size.path}={part}; change one of them"
                )
        elif GLOBAL_BATCH.path in named and whole != part * values[passes.path]:
            times = f"{values[passes.path]} passes of {part}"
            raise UsageError(f"{GLOBAL_BATCH.path}={whole} is not {times}; leave out one of them")

    def known(self) -> set[str]:
        """Return the known keys."""
        return {key.path for key in (self.keys | OF_THE_CALL).values()} | SHARED_NAMES | set(FORMULA)

    def values(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the value of every key by files and words. Raises UsageError."""
        values = composed_values(self.file, frozenset(self.known()), *words)
        keys = self.keys | OF_THE_CALL
        return {**{key.path: values.get(option, key.default) for option, key in keys.items()}, **values}

    @staticmethod
    def value(key: Key, value: Any, name: str) -> Any:
        """Return the parsed value of an option; `name` is its name in errors. Raises UsageError."""
        if value is ...:
            raise UsageError(f"{name} is missing in the files that were chosen")
        try:
            return None if key.path in OF_THE_CALL and value is None else key.read(str(value))
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{name}: {error}") from None

    def answer_flags(self, words: list[str]) -> None:
        """Print help or the configuration if requested, and exit. Raises UsageError for other flags."""
        for flag in (word for word in words if word.startswith("-")):
            if flag in ("-h", "--help"):
                print(self.help())
                raise SystemExit(0)
            if flag in ("-m", "--multirun"):
                raise UsageError(f"{flag}: {ONE_VALUE}")
            if flag == "--cfg":
                others = [word for word in words if word not in ("--cfg", "job")]
                self.named(others)
                print(OmegaConf.to_yaml(compose_config(self.file, others)), end="")
                raise SystemExit(0)
            keys = " ".join(f"{self.name_of(option)}=" for option in self.keys | OF_THE_CALL)
            raise UsageError(
                f"unknown option {flag!r}: options are written as key=value here; options: {keys}"
            )

    def help(self) -> str:
        """Return the text of --help."""
        lines = [f"usage: {self.program} [key=value ...] [--cfg job] [--help]", "", self.what, ""]
        for option, key in (self.keys | OF_THE_CALL).items():
            name = self.name_of(option)
            where = f" ({key.path})" if key.path != name else ""
            lines.append(f"  {name}=  {key.what}{where}")
        lines.append(f"  {GLOBAL_BATCH.path}=  {GLOBAL_BATCH.what}")
        lines += [f"  {group}=  a file of configs/{group}/" for group in sorted(GROUPS)]
        return "\n".join(lines)

    def resolve(self, typed: dict[str, Any]) -> Kind:
        """Return the typed options with the defaults of the configuration. Raises UsageError."""
        values = self.values([])
        options = {option: self.value(key, values[key.path], key.path) for option, key in self.keys.items()}
        options |= QUICK if "quick" in typed else {}
        options |= {option: value for option, value in typed.items() if option in self.keys}
        if options.get("pretrained") is not None:
            options["pretrained"] = run_named(options["pretrained"])
            options |= self.published(options["pretrained"], typed)
        options["data_name"], options["data"] = find_data(options["data"], self.kind is PretrainingOptions)
        if options["data_name"] == "file" and holds_places(Path(options["data"])):
            refuse_places(Path(options["data"]), options.get("reference"))
        for option, kind in (("intervals", "genome"), ("reference", "folder")):
            if options.get(option) is not None and options["data_name"] != kind:
                is_file = options["data_name"] == "file"
                what = "a file with the sequences themselves" if is_file else "generated"
                cure = "leave it out" if is_file else "name data of your own"
                raise UsageError(
                    f"{self.name_of(option)}={options[option]} has no effect: data={options['data']} is "
                    f"{what}; {cure}"
                )
        if not options["drop_last"]:
            raise UsageError(
                "dataset.drop_last=false: every step of training takes whole batches here; evaluation leaves "
                "nothing out in any case"
            )
        return self.kind(**options)

    def published(self, pretrained: str, typed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that follow from published weights. Raises UsageError for other sizes typed.

        PS or Ph may be chosen: either backbone can read one strand, or both.
        """
        found = options_of(pretrained)
        differing = [name for name in found if name != "rcps" and typed.get(name, found[name]) != found[name]]
        if differing:
            own, needed = (
                " ".join(f"{self.keys[name].path}={values[name]}" for name in differing)
                for values in (typed, found)
            )
            raise UsageError(f"{own}: the network of {pretrained} has another size; write {needed}")
        return found | {option: typed[option] for option in found.keys() & typed.keys()}

    def spelling(self) -> Spelling:
        """Return the spelling of the options of this program."""

        def words(settings: Mapping[str, Any]) -> list[str]:
            keys = {option: key.path for option, key in self.keys.items()}
            return [f"++{keys.get(name, name)}={spelt(literal(value))}" for name, value in settings.items()]

        def option(named: Option) -> str:
            name = self.name_of(named.name)
            return name if named.value is None else f"{name}={named.value}"

        return Spelling(words, resume=lambda folder: [f"resume={folder}"], option=option)

    def name_of(self, option: str) -> str:
        """Return the name of an option in this program: short for shared options, a key for the others."""
        return option if option in SHARED_NAMES or option not in self.keys else self.keys[option].path


TRAIN = CommandLine(
    "train.py",
    "Train a classifier of DNA sequences. With no option: generated sequences, half of which hold a motif.",
    "config",
    FineTuningOptions,
    KEYS | {"pretrained": PRETRAINED, "reference": REFERENCE},
)
PRETRAIN = CommandLine(
    "pretrain.py",
    "Train a network to guess masked bases. With no option: generated sequences.",
    "pretrain",
    PretrainingOptions,
    KEYS | {"mlm_probability": MASKED, "intervals": INTERVALS},
)
