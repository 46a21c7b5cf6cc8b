"""What cannot work in a worker process is refused in one line before one starts."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest
import torch

from snippets.data_loading import check_can_be_sent, check_main_guard, collate_on_cpu
from snippets.errors import UsageError, exit_with_one_line

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]
META = torch.device("meta")  # stands for MPS: tensors there cannot be sent either


class Holder:
    """A data set that holds something."""

    def __init__(self, held):
        self.held = held


def test_ordinary_data_can_be_sent():
    check_can_be_sent(
        Holder([torch.ones(3), b"bytes" * 100_000, {"name": print}, Holder(test_ordinary_data_can_be_sent)])
    )


def test_tensors_are_not_copied_by_the_check():
    huge = torch.zeros(1).expand(10**12)  # 4 TB, were it pickled
    check_can_be_sent(Holder(huge))


def test_a_lambda_gets_one_line(capsys):
    code = exit_with_one_line(lambda _: check_can_be_sent(Holder(lambda image: image)))
    message = capsys.readouterr().err
    assert code == 2
    assert message.count("\n") == 1
    assert "<lambda>" in message
    assert "replace lambdas" in message
    assert "0 workers" in message


def test_open_files_generators_and_locks(tmp_path):
    with (tmp_path / "file").open("w") as file:
        for held in (file, (number for number in [1]), threading.Lock()):
            with pytest.raises(UsageError, match="cannot be sent to workers"):
                check_can_be_sent(Holder(held))


def test_objects_for_starting_processes_are_not_refused():
    check_can_be_sent(Holder(multiprocessing.get_context("spawn").Value("i", 3)))


def test_a_tensor_on_a_device_is_refused_and_explained():
    with pytest.raises(
        UsageError, match="a tensor on meta cannot pass between processes: keep the data set on the CPU"
    ):
        check_can_be_sent(Holder([torch.ones(1, device=META)]))


def test_notebook_classes_are_refused_for_workers(monkeypatch):
    notebook = types.ModuleType("__main__")  # without __file__
    notebook.Pictures = type("Pictures", (), {"__module__": "__main__"})
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    with pytest.raises(UsageError, match=r"cannot find 'Pictures': move it from the notebook to a .py file"):
        check_can_be_sent(notebook.Pictures())
    notebook.__file__ = "train.py"
    check_can_be_sent(notebook.Pictures())


def test_batches_are_made_of_cpu_tensors_only():
    images, labels = collate_on_cpu([(torch.ones(2), 1), (torch.zeros(2), 0)])
    assert images.tolist() == [[1, 1], [0, 0]]
    assert labels.tolist() == [1, 0]
    with pytest.raises(UsageError, match="a tensor on meta"):
        collate_on_cpu([{"image": torch.ones(2, device=META)}])


def test_worker_running_the_whole_script_is_refused(monkeypatch):
    check_main_guard()  # this process is no worker that is being started
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(SystemExit, match='under `if __name__ == "__main__":`'):
        check_main_guard()


ORPHAN = """
import multiprocessing, sys, time
from pathlib import Path
from snippets.data_loading import end_without_parent

def work(folder):
    (folder / "importing").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    end_without_parent(0)
    (folder / "works").touch()

if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(Path(sys.argv[1]),))
    worker.start()
    print(worker.pid, flush=True)
    worker.join()
"""


@pytest.mark.program
@pytest.mark.parametrize("killed", [False, True], ids=["alive", "killed"])
def test_a_worker_whose_training_was_killed_meanwhile_ends(tmp_path, killed):
    (tmp_path / "train.py").write_text(ORPHAN)
    training = subprocess.Popen(
        [sys.executable, "train.py", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    worker = int(training.stdout.readline())
    wait_until((tmp_path / "importing").exists)
    if killed:
        training.kill()
        training.wait()
    (tmp_path / "go").touch()
    wait_until(lambda: (tmp_path / "works").exists() or not is_running(worker))
    assert (tmp_path / "works").exists() != killed
    training.communicate()


def wait_until(condition):
    """Wait for something that has to come; the test's time limit ends what waits for ever."""
    while not condition():
        time.sleep(0.01)


def is_running(pid):
    """Return whether a process is there and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
