"""Options in Hydra's language: shared names and the guide's keys mean the same; mistakes are one line."""

import shutil

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from examples.genomic_caduceus import config_files, hydra_words
from examples.genomic_caduceus.config_files import CONFIGS
from examples.genomic_caduceus.options import KEYS, PRETRAIN, TRAIN
from examples.programs.speed import SWITCHES
from snippets.errors import Option, UsageError

pytestmark = [pytest.mark.unmeasured, pytest.mark.slow]  # Hydra composes files, in 0.1 s each time

GUIDE = "experiment=hg38/mps_optimized_genomic_benchmark"


def options(*words, line=TRAIN):
    """Return the options that a command line means."""
    return line.resolve(line.read(words))


def refusal(*words, line=TRAIN):
    """Return the line in which a command line is refused."""
    with pytest.raises(UsageError) as refused:
        options(*words, line=line)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def folder(tmp_path):
    """Return a folder that looks like a data set."""
    (tmp_path / "promoters").mkdir()
    return tmp_path / "promoters"


# ---- Names ----


# shared name: its key in the configurations of the guide, and a value that is not the default
ALIASES = {
    "device": ("trainer.accelerator", "cpu"),
    "precision": ("trainer.precision", "bf16"),
    "epochs": ("trainer.max_epochs", "7"),
    "max_steps": ("trainer.max_steps", "9"),
    "batch_size": ("dataset.batch_size", "32"),
    "accumulate": ("trainer.accumulate_grad_batches", "2"),
    "lr": ("optimizer.lr", "0.5"),
    "weight_decay": ("optimizer.weight_decay", "0.25"),
    "seed": ("train.seed", "3"),
    "workers": ("dataset.num_workers", "1"),
}


def test_every_shared_name_has_a_key():
    assert {name for name in ALIASES if KEYS[name].path != ALIASES[name][0]} == set()
    assert set(ALIASES) == {name for name in KEYS if name in TRAIN.kind.__base__.__base__.__annotations__} - {
        *SWITCHES,
        "data",
    }


@pytest.mark.parametrize("name", ALIASES)
def test_a_shared_name_and_its_key_mean_the_same(name):
    key, value = ALIASES[name]
    by_name, by_key = options(f"{name}={value}"), options(f"{key}={value}")
    assert by_name == by_key != options()
    assert str(getattr(by_name, name)) == value


@pytest.mark.parametrize(
    ("word", "meant"),
    [("32", "fp32"), ("32-true", "fp32"), ("16", "fp16"), ("16-mixed", "fp16"), ("bf16-mixed", "bf16")],
)
def test_lightnings_words_for_formats(word, meant):
    assert options(f"trainer.precision={word}").precision == meant


def test_lightnings_word_for_the_gpu_of_the_guide():
    assert options("trainer.accelerator=gpu").device == "cuda"


# ---- + and ++ ----


@pytest.mark.parametrize(
    "key",
    [
        "num_workers=1",
        *(pytest.param(f"{name}=true", marks=pytest.mark.long) for name in ("pin_memory", "drop_last")),
    ],
)
def test_existing_keys_are_set_and_new_ones_added(folder, key):
    own, guide = (), ("dataset=genomic_benchmark", f"data={folder}")
    for words, right, wrong in ((own, "", "+"), (guide, "+", "")):
        (name, _, value) = key.partition("=")
        expected = {"1": 1, "true": True}[value]
        for prefix in (right, "++"):
            found = options(*words, f"{prefix}dataset.{key}")
            assert getattr(found, {"num_workers": "workers"}.get(name, name)) == expected
        advice = refusal(*words, f"{wrong}dataset.{key}")
        assert f"{'++' if wrong else '+'}dataset.{name}" in advice


def test_a_command_of_the_guide_is_understood(folder):
    words = ["+dataset.num_workers=0", "+dataset.pin_memory=false", "+dataset.drop_last=true"]
    found = options("dataset=genomic_benchmark", f"data={folder}", *words)
    assert (found.workers, found.pin_memory, found.drop_last) == (0, False, True)


def test_the_experiment_of_the_guide(folder):
    found = options(GUIDE, f"data={folder}")
    assert (found.batch_size, found.accumulate, found.precision, found.lr) == (64, 2, "bf16", 1e-3)
    assert (found.width, found.layers, found.state, found.epochs, found.clip) == (118, 4, 16, 10, 1.0)
    assert (found.workers, found.pin_memory, found.drop_last, found.devices) == (0, False, True, 1)
    assert (found.data_name, found.data) == ("folder", str(folder.resolve()))


def test_the_pre_training_of_the_guide(tmp_path):
    (tmp_path / "hg38.fa").write_text(">chr1\nACGT\n")
    found = options("experiment=hg38/pretrain", f"data={tmp_path}/hg38.fa", line=PRETRAIN)
    assert (found.width, found.layers, found.max_steps, found.lr) == (118, 4, 10_000, 8e-3)
    assert (found.batch_size * found.accumulate, found.length) == (1024, 1024)
    assert (found.mlm_probability, found.rc_aug, found.data_name) == (0.15, True, "genome")


# ---- What follows from others ----


@pytest.mark.parametrize(
    ("words", "batch", "accumulate"),
    [
        (["train.global_batch_size=128"], 64, 2),
        (["train.global_batch_size=128", "dataset.batch_size=64"], 64, 2),
        (["dataset.batch_size=32"], 32, 1),  # the whole follows the part
        (["batch_size=32", "accumulate=4"], 32, 4),
        (["train.global_batch_size=128", "trainer.accumulate_grad_batches=2"], 64, 2),
    ],
)
def test_passes_per_step_follow_from_the_global_batch(words, batch, accumulate):
    found = options(*words)
    assert (found.batch_size, found.accumulate) == (batch, accumulate)


def test_quick_is_less_of_everything_that_was_not_set():
    found = options("quick=true", "model.config.d_model=24")
    assert (found.width, found.layers, found.max_steps) == (24, 1, 10)


# ---- Mistakes ----


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("batch_size=32 dataset.batch_size=16", "batch_size=32 has no effect: dataset.batch_size is 16 here"),
        ("lr=0.1 optimizer.lr=0.2", "lr=0.1 has no effect: optimizer.lr is 0.2 here; set that instead"),
        ("batch_size=viele", "batch_size: must be a whole number from 1"),
        ("dataset.batch_size=1.5", "dataset.batch_size: must be a whole number from 1"),
        ("model.config.rcps=yes", "model.config.rcps: must be true or false, not 'yes'"),
        ("trainer.precision=bf32", "trainer.precision: must be one of auto, fp32, bf16, fp16, 32, 32-true"),
        ("scheduler.warmup=1", "scheduler.warmup: must be a number"),
        ("trainer.devices=2", "trainer.devices: must be a whole number from 1 to 1"),
        ("dataset.drop_last=false", "dataset.drop_last=false: every step of training takes whole batches"),
        ("train.global_batch_size=0", "train.global_batch_size: must be a whole number from 1"),
        (
            "train.global_batch_size=7 batch_size=6",
            "train.global_batch_size=7 is no multiple of",
        ),
        (
            "train.global_batch_size=32",
            "train.global_batch_size=32 is no multiple of dataset",
        ),
        (
            "train.global_batch_size=128 accumulate=4",
            "train.global_batch_size=128 is not 4 passes of 64;",
        ),
        ("lr=nan", "lr: must be a number above 0 to 1000, not 'nan'"),
        ("lr={a:1}", "lr={a:1}: an option has one value, without brackets"),
        ("lr=[1]", "lr=[1]: an option has one value, without brackets"),
        ("lr:1", "lr:1: options are written as key=value"),
        ("lr='", "lr=': the value is not in Hydra's language, where quotes and brackets come in pairs, and"),
        ("lr=sweep(1)", "lr=sweep(1): the value is not in Hydra's language"),
        ("ä=1", "ä=1: no key is called 'ä'; --help lists the keys"),
        ("lr@x=1", "lr@x=1: no key is called 'lr@x'"),
        (
            "--multirun",
            "--multirun: a run has one value of each option; for several seeds",
        ),
        ("-m lr=1,2", "-m: a run has one value of each option; for several seeds there"),
        (
            "seed=1,2",
            "seed=1,2: a run has one value of each option; for several seeds there is compare_seeds.py",
        ),
        ("~optimizer.lr", "~optimizer.lr: no key can be removed"),
        ("epochs", "epochs: options are written as key=value"),
        ("+trainer.precison=bf16", "unknown key trainer.precison; keys: "),
        ("trainer.precison=bf16", "unknown key trainer.precison; keys: "),
        ("--batch-size 64", "unknown option '--batch-size': options are written as key=value here; options:"),
        ("dataset=promoters", "dataset=promoters: there is no such file; choose genomic_benchmark, hairpin,"),
        ("data=no_such_folder", "data=no_such_folder: neither motif nor a folder with train and test"),
        ("dataset=genomic_benchmark", "data= is missing; name the folder of a data set"),
        ("lr=", "lr: must be a number"),
        ("lr=${nothing}", "nothing"),
        ("lr=[1", "lr=[1: the value is not in Hydra's language"),
        (f"batch_size={'9' * 5000}", "a number has too many digits"),
        ("mlm_probability=0.2", "unknown key mlm_probability"),
        (
            "dataset.reference=x.fa",
            "dataset.reference=x.fa has no effect: data=motif is generated;",
        ),
        ("--cfg job nokey=3", "unknown key nokey"),
        ("--cfg job hydra.searchpath=/tmp", "unknown key hydra.searchpath"),
        ("model=../model/small", "model=../model/small: there is no such file; choose caduceus, small"),
        (f"model={CONFIGS}/model/small", "small: there is no such file; choose caduceus, small"),
        ("model=[small]", "model=[small]: an option has one value"),
        ("--cfg job experiment=../../x", "experiment=../../x: there is no such file; choose hg38/"),
        ("+experiment=hg38/pretrain", "a file is chosen without a sign, as in experiment=hg38/pretrain"),
    ],
)
def test_mistakes_are_one_line(words, message):
    assert message in refusal(*words.split())


def test_unknown_experiment_names_the_known_ones():
    message = refusal("experiment=hg38/mps")
    assert message.startswith("experiment=hg38/mps: there is no such file; choose ")
    for path in (CONFIGS / "experiment" / "hg38").iterdir():
        assert f"hg38/{path.stem}" in message


def test_intervals_are_of_a_genome(tmp_path):
    (tmp_path / "g.fa").write_text(">chr1\nACGT\n")
    words = f"data={tmp_path}/g.fa", "dataset.intervals=b.bed"
    assert options(*words, line=PRETRAIN).intervals == "b.bed"
    said = "dataset.intervals=b.bed has no effect: data=markov is generated; name data of your own"
    assert refusal("dataset.intervals=b.bed", line=PRETRAIN) == said


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (BOMB, "line 2: aliases (*) and tags (!) are not read; write the value itself"),
        ("train: &t\n  seed: *t\n", "line 2: aliases (*) and tags (!) are not read"),
        ("lr: !!python/object/apply:os.getcwd []\n", "line 1: aliases (*) and tags (!) are not read"),
        (f"lr: {'[' * 3000}", "line 1: more than 20 levels"),
        ("lr: '", "while scanning a quoted scalar"),
        ("lr: 1\nlr: 2\n", "found duplicate key lr"),
        ("- lr\n", "it holds no keys"),
        ("defaults:\n  - theirs\n", "maximum recursion depth exceeded"),
        (f"lr: 1 #{'x' * 70_000}\n", "it is larger than 65,536 bytes"),
        ("lr: ${seed}${seed}\n", "line 1: a value may refer to one key (${key}), not to several"),
        ("defaults:\n  - override /model: ../../../x\n", "its defaults name a file outside configs/"),
        (f"batch_size: {'9' * 5000}\n", "a number has too many digits"),
        ("# @package _global_\nlearning_rate: 1\n", "sets learning_rate, which means nothing here; choose"),
        ("# @package _global_\nlr:\n  a: 1\n", "sets lr.a, which means nothing here"),
        ("# @package _global_\nlr: ${lr}\n", "the configuration cannot be resolved: Recursive interpolation"),
    ],
)
def test_bad_experiment_file_is_refused_in_one_line(tmp_path, monkeypatch, content, reason):
    configs = tmp_path / "configs"
    shutil.copytree(CONFIGS, configs)
    (configs / "experiment" / "theirs.yaml").write_text(content)
    monkeypatch.setattr(config_files, "CONFIGS", configs)
    monkeypatch.setattr(hydra_words, "CONFIGS", configs)
    hydra_words.composed_values.cache_clear()
    assert reason in refusal("experiment=theirs")


def test_options_of_the_other_program_are_unknown():
    assert "unknown key train.pretrained" in refusal("train.pretrained=newest", line=PRETRAIN)
    assert options("dataset.mlm_probability=0.2", line=PRETRAIN).mlm_probability == 0.2


# ---- What is typed, and what is printed ----


@pytest.mark.parametrize(
    "name", ["a folder", "it's", "a,b", "[x]", "a=b", "$HOME", "a\\", "中文", "{a}", "(b)"]
)
def test_files_may_have_any_name(tmp_path, name):
    path = tmp_path / name
    path.mkdir()
    found = options(f"data={path}")
    assert found.data == str(path.resolve())
    words = TRAIN.spelling().words({"data": found.data})
    assert options(*words) == found


def test_options_are_spelt_as_they_are_read():
    found = options(
        "batch_size=32", "max_steps=5", "trainer.gradient_clip_val=null", "model.config.rcps=false"
    )
    saved = {name: value for name, value in vars(found).items() if name not in found.DERIVED}
    assert options(*TRAIN.spelling().words(saved)) == found
    assert (found.clip, found.rcps) == (None, False)


def test_interpolations_in_saved_options_are_not_resolved():
    for data in ("${lr}${lr}", "a\\${b}", "it's ${oc.env:HOME}"):
        assert TRAIN.read(TRAIN.spelling().words({"data": data}))["data"] == data


@pytest.mark.parametrize(
    ("said", "here"),
    [
        (Option("batch_size", 64), "batch_size=64"),
        (Option("resume", "auto"), "resume=auto"),
        (Option("out"), "out"),
        (Option("data", "~/x --lr 5"), "data=~/x --lr 5"),
        (Option("width"), "model.config.d_model"),
        (Option("of_another_version"), "of_another_version"),
    ],
)
def test_errors_name_options_as_keys(said, here):
    assert TRAIN.spelling().option(said) == here


@pytest.mark.parametrize("line", [TRAIN, PRETRAIN])
def test_help_names_every_option_with_its_key(line, capsys):
    with pytest.raises(SystemExit) as left:
        line.read(["--help"])
    text = capsys.readouterr().out
    assert left.value.code == 0
    assert text.startswith(f"usage: {line.program} [key=value ...]")
    for key in line.keys.values():
        assert f"{key.path}" in text and key.what in text
    assert "batch_size=" in text and "(dataset.batch_size)" in text
    for name in ("train.global_batch_size", "model", "dataset", "experiment"):
        assert f"  {name}=  " in text


@pytest.mark.parametrize("words", [("--cfg", "job", "batch_size=32"), ("batch_size=32", "--cfg", "job")])
def test_the_configuration_is_printed(capsys, words):
    with pytest.raises(SystemExit) as left:
        TRAIN.read(list(words))
    assert left.value.code == 0
    printed = OmegaConf.create(capsys.readouterr().out)
    with initialize_config_dir(config_dir=str(CONFIGS), version_base="1.3"):
        assert printed == compose("config", ["batch_size=32"])
