"""Hydra: each word of the page gives what the page says, and its errors are the page's headings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, InterpolationKeyError, ValidationError

from snippets import hydra_training
from snippets.hydra_types import checked

pytestmark = pytest.mark.program

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/en/frameworks/hydra.md").read_text("utf-8")  # the Chinese page has the same code
ERRORS = [
    *re.findall(r"^### `(.+)` \{.+\n\n.*?(?:You typed|as in) `(.+?)`", PAGE, re.M),
    *((message, word) for word, message in re.findall(r"`([^`]+)`[^`]*(?:stands|read) `(.+?)`", PAGE)),
]
NOT_IN_STRUCT = "Key 'num_workers' is not in struct"
NOT_FOUND = "Interpolation key 'dataset.batch_size' not found"


def write_files(folder: Path) -> Path:
    """Run the page's commands that write the configuration; return its folder."""
    subprocess.run(["bash", "-eu", ROOT / "snippets/shell/hydra_files.sh"], cwd=folder, check=True)
    return folder / "conf"


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("hydra"))


def composed(conf: Path, *words: str) -> DictConfig:
    assert hydra_training.main  # its module registers what the files compute with
    with initialize_config_dir(str(conf), version_base="1.3"):
        return compose("config", list(words))


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        ([], "dataset.batch_size", 128),
        (["dataset.batch_size=64"], "dataset.batch_size", 64),
        (["+dataset.num_workers=0"], "dataset.num_workers", 0),
        (["++dataset.batch_size=64"], "dataset.batch_size", 64),
        (["++dataset.num_workers=0"], "dataset.num_workers", 0),
        (["~trainer.max_epochs"], "trainer.max_epochs", None),
        (["~trainer.max_epochs=10"], "trainer.max_epochs", None),
        (["dataset=enhancers"], "dataset.batch_size", 256),
        (["+dataset.num_worker=4"], "dataset.num_workers", None),
        # who wins
        (["+experiment=mac"], "dataset.name", "enhancers"),
        (["+experiment=mac"], "dataset.batch_size", 16),
        (["+experiment=mac", "dataset.batch_size=8"], "dataset.batch_size", 8),
        (["dataset.batch_size=8", "+experiment=mac"], "dataset.batch_size", 8),
        (["dataset.batch_size=64", "dataset.batch_size=32"], "dataset.batch_size", 32),
        # the formula
        ([], "trainer.accumulate_grad_batches", 1),
        (["dataset.batch_size=64"], "train.global_batch_size", 64),
        (["dataset.batch_size=64"], "trainer.accumulate_grad_batches", 1),
        (["dataset.batch_size=64", "train.global_batch_size=128"], "trainer.accumulate_grad_batches", 2),
        (
            ["dataset.batch_size=64", "trainer.accumulate_grad_batches=2"],
            "trainer.accumulate_grad_batches",
            2,
        ),
        (["dataset.batch_size=64", "trainer.accumulate_grad_batches=2"], "train.global_batch_size", 64),
        # types
        (["trainer.max_epochs=ten"], "trainer.max_epochs", "ten"),
        (["dataset.batch_size='64'"], "dataset.batch_size", "64"),
        (["dataset.batch_size=1e-3"], "dataset.batch_size", 0.001),
        (["dataset.name=null"], "dataset.name", None),
        (["dataset.name="], "dataset.name", ""),
        # quotes, as Hydra gets them from the shell
        (["+dataset.files=[a,b]"], "dataset.files", ["a", "b"]),
        (["dataset.name='a,b'"], "dataset.name", "a,b"),
        (["dataset.name='lr=0.1'"], "dataset.name", "lr=0.1"),
    ],
)
def test_words_give_what_the_page_says(conf, words, key, value):
    assert repr(OmegaConf.select(composed(conf, *words), key)) == repr(value)  # 64 is not "64"


@pytest.mark.parametrize(("message", "word"), ERRORS)
def test_errors_are_those_of_the_page(conf, message, word):
    with pytest.raises(Exception, match=re.escape(message)):
        composed(conf, word)


def test_every_error_of_the_page_is_tried():
    headings = set(re.findall(r"^### `(.+)` \{", PAGE.partition("{ #errors }")[2], re.M))
    assert headings - {message for message, _ in ERRORS} == {NOT_IN_STRUCT, NOT_FOUND}


def test_a_missing_key_in_code(conf):
    config = composed(conf)
    with pytest.raises(ConfigAttributeError, match=NOT_IN_STRUCT):
        _ = config.dataset.num_workers
    with pytest.raises(ConfigAttributeError, match=NOT_IN_STRUCT):
        config.dataset.num_workers = 0
    assert config.dataset.get("num_workers", 0) == 0


def test_a_deleted_key_is_missed_when_another_reads_it(conf):
    config = composed(conf, "~dataset.batch_size")
    with pytest.raises(InterpolationKeyError, match=NOT_FOUND):
        _ = config.train.global_batch_size


@pytest.mark.parametrize(
    ("word", "error", "message"),
    [
        (
            "trainer.max_epochs=ten",
            ValidationError,
            "Value 'ten' of type 'str' could not be converted to Integer",
        ),
        ("+trainer.max_epoch=3", ConfigKeyError, "Key 'max_epoch' not in 'TrainerOptions'"),
    ],
)
def test_a_dataclass_checks_types_and_names(conf, word, error, message):
    assert checked(composed(conf)).max_epochs == 10
    with pytest.raises(error, match=message):
        checked(composed(conf, word))
    assert f"`{message}`" in PAGE


@pytest.mark.parametrize(("order", "wins"), [(["_self_", "a: b"], 128), (["a: b", "_self_"], 32)])
def test_the_later_of_the_defaults_list_wins(tmp_path, order, wins):
    assert of_two_files(tmp_path, order) == wins


def test_without_self_the_file_itself_wins_and_hydra_warns(tmp_path):
    with pytest.warns(UserWarning, match="Defaults list is missing `_self_`"):
        assert of_two_files(tmp_path, ["a: b"]) == 32


def of_two_files(folder: Path, order: list[str]) -> int:
    """Return what comes out where a group has 128 and config.yaml 32."""
    (folder / "a").mkdir()
    (folder / "a/b.yaml").write_text("batch_size: 128\n", encoding="utf-8")
    entries = "".join(f"  - {entry}\n" for entry in order)
    text = f"defaults:\n{entries}a:\n  batch_size: 32\n"
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return composed(folder).a.batch_size


def run_program(folder: Path, *words: str) -> str:
    """Run the page's program in a new folder; return what it printed."""
    command = [sys.executable, ROOT / "snippets/hydra_training.py", "--config-path", write_files(folder)]
    done = subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_program_prints_its_configuration_and_keeps_it(tmp_path):
    assert "  num_workers: 0\n" in run_program(tmp_path, "+dataset.num_workers=0")
    (kept,) = tmp_path.glob("outputs/*/*/.hydra/overrides.yaml")
    assert kept.read_text(encoding="utf-8") == "- +dataset.num_workers=0\n"


def test_it_writes_no_folder_when_it_is_told_so(tmp_path):
    run_program(tmp_path, "hydra.run.dir=.", "hydra.output_subdir=null", "hydra/job_logging=stdout")
    assert [path.name for path in tmp_path.iterdir()] == ["conf"]


def test_the_configuration_can_say_that_no_folder_is_wanted(tmp_path):
    conf = write_files(tmp_path)
    text = (conf / "config.yaml").read_text(encoding="utf-8")
    listed = "\n  - _self_\n"
    assert listed in text
    text = text.replace(listed, listed + "  - override hydra/job_logging: stdout\n")
    text += "hydra:\n  run: {dir: .}\n  output_subdir: null\n"
    (conf / "config.yaml").write_text(text, encoding="utf-8")
    command = [sys.executable, ROOT / "snippets/hydra_training.py", "--config-path", conf]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["conf"]


def test_it_runs_twice(tmp_path):
    assert "Launching 2 jobs locally" in run_program(tmp_path, "--multirun", "dataset.batch_size=32,64")
    folders = sorted(path.parent.name for path in tmp_path.glob("multirun/*/*/*/.hydra"))
    assert folders == ["0", "1"]


def test_it_prints_its_configuration_and_does_not_start(tmp_path):
    words = ("+experiment=mac", "dataset.batch_size=8", "--cfg", "job", "--resolve")
    assert "  batch_size: 8\n" in run_program(tmp_path, *words)
    assert not (tmp_path / "outputs").exists()
