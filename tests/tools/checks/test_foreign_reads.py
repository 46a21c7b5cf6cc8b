"""Every way to open a file without limits is found; the project has none outside the modules for it."""

import pytest

from tools.checks import foreign_reads

PLANTED = (
    "open(path)",
    "open(path, 'rb')",
    "open(path, mode)",
    "path.open()",
    "path.open('r+b')",
    "path.open(mode='rt')",
    "os.open(path, os.O_RDONLY)",
    "path.read_text(encoding='utf-8')",
    "Path('x').read_bytes()",
    "gzip.open(path, 'rt')",
    "zipfile.ZipFile(path)",
    "numpy.load(path, allow_pickle=False)",
    "torch.load(path)",
    "json.load(file)",
    "pandas.read_csv(path)",
    "pandas.read_parquet(path)",
    "yaml.safe_load(text)",
    "OmegaConf.load(path)",
    "archive.open(0)",  # a number is no mode
)
FINE = (
    "open(path, 'w')",
    "path.open('ab')",
    "path.open(mode='x')",
    "os.open(path, os.O_WRONLY)",
    "read_text(path)",
    "foreign_files.read_bytes(path, 10)",
    "json.loads(text)",
    "model.load_state_dict(state)",
    "webbrowser.open(address)",
)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a program, and returns the folder of the project."""

    def call(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    return call


@pytest.mark.parametrize("call", PLANTED)
def test_a_planted_read_is_found(write, call, capsys):
    root = write("examples/new/train.py", f"def read(path):\n    return {call}\n")
    assert foreign_reads.main(root) == 1
    assert capsys.readouterr().out.startswith("examples/new/train.py:2: ")


@pytest.mark.parametrize("call", FINE)
def test_writing_and_readers_with_limits_are_fine(write, call):
    assert foreign_reads.main(write("snippets/new.py", call)) == 0


def test_reading_modules_and_what_stands_alone_are_left_out(write):
    for name in ("snippets/foreign_files.py", "snippets/recipes/new.py", "examples/new/single_file.py"):
        root = write(name, "open(path)")
    assert foreign_reads.main(root) == 0


def test_module_may_state_why_it_opens_files(write):
    text = "# foreign_reads: {}\nopen(path)\n"
    assert foreign_reads.main(write("examples/new/written.py", text.format("what it has just written"))) == 0
    assert foreign_reads.main(write("examples/new/written.py", text.format(""))) == 1


@pytest.mark.slow
def test_project_has_no_foreign_read_or_stale_exception():
    assert foreign_reads.main() == 0
    for pattern in (*foreign_reads.READING, *foreign_reads.OWN, *foreign_reads.STAND_ALONE):
        assert any(foreign_reads.ROOT.glob(pattern.replace("*/", "examples/*/"))), pattern


def test_without_files_it_fails(tmp_path):
    with pytest.raises(FileNotFoundError):
        foreign_reads.main(tmp_path)
