"""The programs in their order: train, build_cache, mine_near_misses, train with both files, evaluate."""

import json
import re
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch
from torch.nn import functional as F

from examples.two_tower import evaluate, faiss_process, mine_near_misses, train
from examples.two_tower import trained as trained_networks
from examples.two_tower.embedding import embed_contexts, embed_payloads
from examples.two_tower.near_miss_files import parsed, read_cache
from examples.two_tower.negatives import NONE, Forbidden, find_near_misses
from examples.two_tower.retrieval import retrieval
from examples.two_tower.train import build_network
from examples.two_tower.trained import load_trained
from snippets.checkpoints import load_checkpoint
from snippets.training_loop import Training
from tests.examples.program_runs import assert_refused, contents

CPU = torch.device("cpu")


def test_with_no_option_each_takes_the_newest_run(
    call, run_train, first_run, from_files, without_curves, tmp_path
):
    shutil.copytree(first_run, tmp_path / "runs" / "two_tower" / "2026-01-01_00-00-00")
    second = run_train(*from_files(first_run))
    assert second.code == 0
    assert "vectors from " in second.out and "note" not in second.out
    start = load_checkpoint(first_run / "checkpoints" / "best.pt")["model"]
    assert not torch.equal(second.last["model"]["context.enter.weight"], start["context.enter.weight"])
    for name, file in (("build_cache", "p_cache.npy"), ("mine_near_misses", "near_misses.jsonl")):
        done = call(name)
        assert (done.code, done.err) == (0, "")
        assert f"{second.folder.relative_to(tmp_path) / file}" in done.out.splitlines()[-1]
        assert (second.folder / file).exists()
        assert (second.folder / f"{file}.stamp.json").exists()
    assert "192 pairs, 100% of them with a near miss" in done.out
    assert call("evaluate").code == 0
    report = json.loads((second.folder / "evaluation.json").read_text())
    summary, metrics = second.json("summary.json"), second.metrics[-1]
    assert (report["queries"], report["bank"], report["step"]) == (48, 240, 6)
    for name in evaluate.COLUMNS:
        assert report["trained"][name] == pytest.approx(metrics[name])
        assert report["untrained"][name] == pytest.approx(summary["untrained"][name])
        assert report["best"][name] == pytest.approx(summary["best"][name])


def test_run_begins_with_the_given_weights(run_train, first_run, from_files, system, monkeypatch):
    words = from_files(first_run, p_cache=None, near_misses=None)
    task = system.PROGRAM.prepare(system.read_command_line(words))
    start = load_checkpoint(first_run / "checkpoints" / "best.pt")["model"]
    assert all(torch.equal(weights, start[name]) for name, weights in task.state.model.state_dict().items())
    assert task.state.step == 0


def test_the_cache_holds_the_vectors_of_all_payloads(first_run):
    trained = load_trained(first_run)
    cache = read_cache(first_run / "p_cache.npy", 240, 32)
    assert torch.equal(cache, embed_payloads(trained.model, trained.pairs.payloads, CPU))
    stamp = json.loads((first_run / "p_cache.npy.stamp.json").read_text())
    assert (stamp["step"], stamp["epoch"]) == (6, 1.0)
    other = json.loads((first_run / "near_misses.jsonl.stamp.json").read_text())
    assert stamp == other | {"file_crc32": stamp["file_crc32"]}


def test_the_mined_are_the_nearest_wrong_ones(first_run):
    trained = load_trained(first_run)
    pairs, learned = trained.pairs, (~trained.held_out).nonzero().flatten()
    cache = read_cache(first_run / "p_cache.npy", 240, 32)
    queries = embed_contexts(trained.model, pairs.contexts, learned, CPU)
    forbidden = Forbidden(pairs.articles, pairs.payload_ids, trained.held_out)
    found = find_near_misses([queries], learned, cache, forbidden, 8)
    lines = list(parsed(first_run / "near_misses.jsonl"))
    assert [(row, ids) for _, row, ids in lines] == list(zip(learned.tolist(), found.tolist(), strict=True))


def test_vectors_and_near_misses_stay_those_of_files(first_run, from_files, system):
    task = system.PROGRAM.prepare(system.read_command_line(from_files(first_run)))
    for epoch in (0, 1):
        found = task.extra.for_epoch(epoch, task.state.model, CPU)
        assert torch.equal(found.cache, read_cache(first_run / "p_cache.npy", 240, 32))
        candidates = {row: set(ids) for _, row, ids in parsed(first_run / "near_misses.jsonl")}
        for row in task.learned.tolist():
            assert found.rows[row, 0].item() in candidates[row]


def test_evaluation_without_training_is_the_network_as_it_begins(run_train, call, tmp_path, without_curves):
    """Towers begin at the identity: the first line of the table is what they would score."""
    run = run_train("--data=generated", "--rows=240", "--max-steps=1", "--lr=1e-12", "--device=cpu")
    done = call("evaluate", run.folder, "--out", "elsewhere")
    assert done.code == 0
    report = json.loads((tmp_path / "elsewhere" / "evaluation.json").read_text())
    assert report["trained"] == pytest.approx(report["untrained"], abs=1e-6)
    assert not (run.folder / "evaluation.json").exists()
    table = done.out.splitlines()[-5:-1]
    assert table[0].split() == ["R@1", "R@5", "R@10", "R@50", "MRR", "Contain@50"]
    assert table[1].split()[2] == table[2].split()[1] == f"{report['trained']['recall_1']:.1%}"
    assert table[3].startswith("at best")


def test_a_cache_without_a_stamp_is_told(call, run_copy):
    (run_copy / "p_cache.npy.stamp.json").unlink()
    done = call("mine_near_misses", run_copy, "--k", 2, "--out", run_copy / "two.jsonl")
    assert done.code == 0
    assert "note       " in done.out and "has no p_cache.npy.stamp.json" in done.out
    assert {len(ids) for _, _, ids in parsed(run_copy / "two.jsonl")} == {2}


# ---- What is missing ----


@pytest.mark.parametrize("name", ["build_cache", "mine_near_misses", "evaluate"])
def test_without_a_run_each_says_what_makes_one(call, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    message = "there is no trained run in runs/two_tower; make one: python examples/two_tower/train.py\n"
    assert_refused(call(name), message)
    assert_refused(call(name, "nowhere"), "there is no run folder or checkpoint nowhere\n")
    (tmp_path / "empty").mkdir()
    assert_refused(call(name, "empty"), "empty holds no run (no folder checkpoints); name a run folder or")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_without_a_cache_the_miner_says_what_makes_one(call, run_copy):
    (run_copy / "p_cache.npy").unlink()
    message = f"there is no {run_copy / 'p_cache.npy'}; make it: python examples/two_tower/build_cache.py\n"
    assert_refused(call("mine_near_misses", run_copy), message)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("p_cache.npy", "make it: python examples/two_tower/build_cache.py"),
        ("near_misses.jsonl", "make it: python examples/two_tower/mine_near_misses.py"),
        ("checkpoints/best.pt", "best.pt"),
    ],
)
def test_missing_file_is_named_with_its_program(run_train, run_copy, from_files, missing, message):
    (run_copy / missing).unlink()
    assert_refused(run_train(*from_files(run_copy)), message)


def test_a_cache_of_other_weights_is_not_mined_from(call, run_copy):
    stamp = run_copy / "p_cache.npy.stamp.json"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"weights_crc32": 0}))
    before = (run_copy / "near_misses.jsonl").read_bytes()
    assert_refused(call("mine_near_misses", run_copy), "their vectors mean different things; make it anew")
    assert (run_copy / "near_misses.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "file"), [("build_cache", "p_cache.npy"), ("mine_near_misses", "near_misses.jsonl")]
)
def test_what_cannot_be_written_is_one_line(call, run_copy, name, file):
    (run_copy / "taken").write_text("a thesis")
    failed = call(name, run_copy, "--out", run_copy / "taken" / file)
    assert (failed.code, failed.err.count("\n")) == (1, 1)
    assert f"error: cannot write {run_copy / 'taken' / file}: Not a directory; choose" in failed.err


def test_an_evaluation_that_cannot_be_written_is_one_line(call, run_copy):
    (run_copy / "taken").write_text("a thesis")
    refused = call("evaluate", run_copy, "--out", run_copy / "taken")
    assert_refused(refused, f"cannot write to {run_copy / 'taken'}: File exists; name another with --out")


def test_a_damaged_best_checkpoint_is_replaced_by_the_newest(call, run_copy):
    (run_copy / "checkpoints" / "best.pt").write_bytes(b"PK")
    done = call("evaluate", run_copy)
    assert done.code == 0
    assert re.search(r"note .*best\.pt.*; taking .*last\.pt instead", done.out)
    assert_refused(call("evaluate", run_copy / "checkpoints" / "best.pt"), "best.pt")


@pytest.mark.parametrize(
    ("name", "suffix", "file"),
    [("build_cache", ".npy", "p_cache.npy"), ("mine_near_misses", ".jsonl", "near_misses.jsonl")],
)
def test_what_the_command_did_not_make_is_not_replaced(call, run_copy, name, suffix, file):
    (run_copy / f"mine{suffix}").write_text("a thesis")
    (run_copy / f"folder{suffix}").mkdir()
    before = contents(run_copy)
    for out in ("checkpoints/best.pt", "config.json", "pairs.npz", "."):
        assert_refused(call(name, run_copy, "--out", run_copy / out), f"the name must end in {suffix}\n")
    for out in (f"mine{suffix}", f"folder{suffix}", *(["metrics.jsonl"] if suffix == ".jsonl" else [])):
        refused = call(name, run_copy, "--out", run_copy / out)
        assert_refused(
            refused, f"{out} is there already and is no file that this command made; choose another"
        )
    assert contents(run_copy) == before
    (run_copy / f".{file}.999999999.tmp").write_text("half")  # of a process that was killed
    assert call(name, run_copy).code == 0
    assert contents(run_copy) == before


def test_the_evaluation_of_another_run_is_not_replaced(call, run_copy, tmp_path):
    for _ in range(2):
        assert call("evaluate", run_copy, "--out", tmp_path / "both").code == 0
    other = tmp_path / "other"
    shutil.copytree(run_copy, other)
    report = tmp_path / "both" / "evaluation.json"
    before = report.read_bytes()
    assert_refused(
        call("evaluate", other, "--out", tmp_path / "both"), "evaluation.json is there already and is no"
    )
    assert report.read_bytes() == before
    report.write_text("[1]")
    assert_refused(
        call("evaluate", run_copy, "--out", tmp_path / "both"), "evaluation.json is there already and is no"
    )
    assert call("evaluate", run_copy).code == 0
    shutil.move(run_copy, tmp_path / "moved")
    assert call("evaluate", tmp_path / "moved").code == 0


def test_a_checkpoint_may_lie_anywhere(call, run_copy, tmp_path):
    (tmp_path / "kept").mkdir()
    shutil.copy(run_copy / "checkpoints" / "last.pt", tmp_path / "kept" / "mine.pt")
    done = call("evaluate", tmp_path / "kept" / "mine.pt")
    assert done.code == 0
    assert (tmp_path / "kept" / "evaluation.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content["config"]["options"].pop("rows"), "was made by another version of this"),
        (lambda content: content["config"].update(pairs_crc32=1), "is not what .*best.pt learned from"),
        (lambda content: content["config"].update(options=None), "was made by another version of this"),
        (lambda content: content["model"].pop("context.enter.bias"), "the checkpoint is of another network"),
        (lambda content: content["config"].pop("held_out_articles"), "was made by another version of this"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_one_line(call, run_copy, change, message):
    path = run_copy / "checkpoints" / "best.pt"
    content = torch.load(path, weights_only=True)
    change(content)
    torch.save(content, path)
    refused = call("evaluate", run_copy)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert re.search(message, refused.err), refused.err


def test_the_split_is_that_of_the_run(call, first_run, run_copy):
    """It is stored, and not drawn again: other articles in the checkpoint are the ones that are held out."""
    config = json.loads((first_run / "config.json").read_text())
    trained = load_trained(first_run)
    assert len(config["held_out_articles"]) == 4  # 20 articles of 12 rows
    assert trained.pairs.articles[trained.held_out].unique().tolist() == config["held_out_articles"]
    path = run_copy / "checkpoints" / "best.pt"
    content = torch.load(path, weights_only=True)
    content["config"]["held_out_articles"] = [0, 19]
    torch.save(content, path)
    assert call("evaluate", run_copy).code == 0
    report = json.loads((run_copy / "evaluation.json").read_text())
    pairs, rows = trained.pairs, torch.tensor([*range(12), *range(228, 240)])
    known = pairs.payload_ids, pairs.articles
    assert report["queries"] == 24
    expected = retrieval(pairs.plain_queries()[rows], rows, [F.normalize(pairs.payloads, dim=1)], *known)
    assert report["untrained"] == pytest.approx(expected)


# ---- FAISS ----


with_faiss = pytest.mark.skipif(find_spec("faiss") is None, reason="needs FAISS (pip install faiss-cpu)")


def shadow(folder, monkeypatch, module, content):
    """Let other processes find a module with this content before the one that is installed."""
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(content)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@with_faiss
@pytest.mark.program
def test_faiss_equals_exact_search_without_importing_pytorch(call, run_copy, tmp_path, monkeypatch):
    shadow(tmp_path / "first", monkeypatch, "torch", "raise SystemExit('PyTorch was imported')")
    expected = (run_copy / "near_misses.jsonl").read_bytes()
    done = call("mine_near_misses", run_copy, "--faiss", "--out", run_copy / "faiss.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "FAISS on the CPU" in done.out
    assert (run_copy / "faiss.jsonl").read_bytes() == expected
    assert "faiss" not in sys.modules


@pytest.mark.program
def test_without_faiss_there_is_one_line(call, run_copy, tmp_path, monkeypatch):
    absent = "raise ModuleNotFoundError(\"No module named 'faiss'\")"
    shadow(tmp_path / "first", monkeypatch, "faiss", absent)
    failed = call("mine_near_misses", run_copy, "--faiss", "--out", run_copy / "faiss.jsonl")
    reason = "ModuleNotFoundError: No module named 'faiss'"
    message = f"error: FAISS failed ({reason}); install it (pip install faiss-cpu), or leave out --faiss\n"
    assert (failed.code, failed.err) == (1, message)
    assert not (run_copy / "faiss.jsonl").exists()


def by_product(queries, bank, count):
    """Answer as FAISS does, without it."""
    return (torch.from_numpy(queries) @ torch.from_numpy(bank).T).topk(count).indices.numpy()


def test_faiss_is_asked_until_every_row_has_enough(first_run, monkeypatch):
    """It knows nothing of forbidden rows: those of the own article are nearest here."""
    trained = load_trained(first_run)
    pairs = trained.pairs
    held_out = pairs.articles > 9
    forbidden = Forbidden(pairs.articles, pairs.payload_ids, held_out)
    learned, bank = (~held_out).nonzero().flatten(), F.normalize(pairs.payloads, dim=1)
    asked = []
    monkeypatch.setattr(faiss_process, "ask", lambda *given: asked.append(given[2]) or by_product(*given))
    found = faiss_process.find_with_faiss(bank[learned], learned, bank, forbidden, 5)
    assert asked[0] == 20 and len(asked) > 1 and asked == [20 * 2**n for n in range(len(asked))]
    assert torch.equal(found, find_near_misses([bank[learned]], learned, bank, forbidden, 5))
    few = Forbidden(pairs.articles, pairs.payload_ids, pairs.articles > 1)
    rows = torch.arange(24)
    found = faiss_process.find_with_faiss(bank[rows], rows, bank, few, 20)
    assert asked[-1] == 240  # all there are
    assert ((found != NONE).sum(1) == 12).all()


LARGE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy, faiss_process
faiss_process.EXACT_BELOW = 0
rows = numpy.random.default_rng(0).normal(size=(900, 8)).astype("f")
rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
found = faiss_process.search(rows, rows, 4)
exact = numpy.argsort(-(rows @ rows.T), axis=1)[:, :4]
print((found[:, 0] == exact[:, 0]).mean(), numpy.isin(found, exact).mean(), "torch" in sys.modules)
print(numpy.mean([len(set(a) & set(b)) / 4 for a, b in zip(found, exact)]))
faiss_process.EXACT_BELOW = 901
print((faiss_process.search(rows, rows, 4) == exact).all())
"""


@with_faiss
@pytest.mark.program
def test_large_bank_is_searched_by_cell(one_thread):
    folder = str(faiss_process.Path(faiss_process.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", LARGE, folder], capture_output=True, text=True, env=one_thread, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    own, _, torch_there, shared, exact = done.stdout.split()
    assert (float(own), torch_there, exact) == (1.0, "False", "True")
    assert 0.8 < float(shared) < 1  # 8 of 30 cells


def test_miner_and_trainer_forbid_the_same(first_run):
    """What the miner writes, a training with the same split reads without leaving anything out."""
    trained = load_trained(first_run)
    assert mine_near_misses.NAME == "near_misses.jsonl"
    for _, row, ids in parsed(first_run / mine_near_misses.NAME):
        assert len(ids) == 8 and not trained.held_out[[row, *ids]].any()
        assert (trained.pairs.articles[ids] != trained.pairs.articles[row]).all()


def crafted(run, change):
    """Change the best network of a run; its sums are right again."""
    path = run / "checkpoints" / "best.pt"
    content = torch.load(path, weights_only=True)
    change(content)
    torch.save(content, path)
    return path


@pytest.mark.parametrize("name", ["evaluate", "build_cache", "mine_near_misses"])
def test_networks_that_are_no_numbers_are_not_used(call, run_copy, name):
    path = crafted(run_copy, lambda content: next(iter(content["model"].values())).fill_(torch.nan))
    before = contents(run_copy)
    assert_refused(call(name, run_copy), f"weights in {path} are not numbers: ")
    assert contents(run_copy) == before


@pytest.mark.parametrize("name", ["evaluate", "build_cache"])
def test_networks_that_compute_no_numbers_are_not_used(call, run_copy, name):
    crafted(run_copy, lambda content: [weights.fill_(1e30) for weights in content["model"].values()])
    before = contents(run_copy)
    assert_refused(call(name, run_copy), "the network computes NaN or infinity, its weights are too large")
    assert contents(run_copy) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"held_out_articles": [10**30]}, "it holds more than weights and numbers"),
        ({"held_out_articles": []}, "names as held out are none, or all"),
        ({"held_out_articles": [10**9]}, "names as held out are none, or all"),
        ({"held_out_articles": [*range(1000)]}, "names as held out are none, or all"),
        ({"steps_per_epoch": 0}, "is not a checkpoint of a run"),
        ({"steps_per_epoch": "6"}, "is not a checkpoint of a run"),
        ({"options": None}, "another version of this program"),
    ],
    ids=str,
)
def test_settings_in_a_crafted_checkpoint_end_in_one_line(call, run_copy, change, message):
    crafted(run_copy, lambda content: content["config"].update(change))
    for name in ("evaluate", "build_cache"):
        assert_refused(call(name, run_copy), message)


def test_a_network_of_another_size_takes_no_memory(call, run_copy, monkeypatch):
    """The options say that it is very wide: it is compared with the weights before it is made."""
    made = []

    def build(options, width):
        network = build_network(options, width)
        made.append({weights.device.type for weights in network.state_dict().values()})
        return network

    monkeypatch.setattr(trained_networks, "build_network", build)
    crafted(run_copy, lambda content: content["config"]["options"].update(width=8192, layers=64))
    assert_refused(call("evaluate", run_copy), "the checkpoint is of ")
    assert made == [{"meta"}]


NEGATIVES = {
    "text": lambda saved, rows: "x",
    "no rows": lambda saved, rows: {"cache": saved["cache"], "near": saved["near"]},
    "other keys": lambda saved, rows: saved | {"more": 1},
    "text for rows": lambda saved, rows: saved | {"rows": "x"},
    "a row past the end": lambda saved, rows: saved | {"rows": rows.clamp(min=10**9)},
    "a row before the first": lambda saved, rows: saved | {"rows": rows - 7},
    "other widths": lambda saved, rows: saved | {"cache": saved["cache"][:, :5].clone()},
    "too few rows": lambda saved, rows: saved | {"rows": rows[:9].clone()},
    "floats": lambda saved, rows: saved | {"rows": rows.float()},
    "too many near": lambda saved, rows: saved | {"near": 99},
    "NaN": lambda saved, rows: saved | {"cache": saved["cache"] * torch.nan},
}


@pytest.fixture(scope="module")
def in_the_second_epoch(tmp_path_factory, one_thread):
    """Train for 7 of 12 steps, and stop; return the run folder."""
    folder = tmp_path_factory.mktemp("second") / "run"
    original = Training.after_step

    def after_step(training, measures, stop, bar):
        if training.state.step == 8:
            signal.raise_signal(signal.SIGINT)
        return original(training, measures, stop, bar)

    words = "--data generated --rows 240 --batch-size 32 --epochs 2 --device cpu --out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "after_step", after_step)
        assert train.PROGRAM.main([*words.split(), str(folder)]) == 128 + signal.SIGINT
    return folder


@pytest.mark.parametrize("name", [*NEGATIVES, None])
def test_crafted_negatives_in_a_checkpoint_are_refused(
    in_the_second_epoch, run_train, without_curves, tmp_path, name
):
    path = shutil.copytree(in_the_second_epoch, tmp_path / "run") / "checkpoints" / "last.pt"
    content = torch.load(path, weights_only=True)
    saved = content["progress"]["negatives"]
    if name is None:
        assert run_train(resume="run").code == 0
        return
    content["progress"]["negatives"] = NEGATIVES[name](saved, saved["rows"])
    torch.save(content, path)
    assert_refused(
        run_train(resume="run"), "no state of this training (its negatives are not of these pairs)"
    )
