"""Memory and time of a step of stage 2: forms that learn the same and keep different amounts."""

import itertools

import pytest
import torch
import yaml

from tools.measuring import floorplan_memory as tool

WIDTH, LAYERS, HEADS = 32, 2, 4
BATCH, CORNERS = 2, 5
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(tool, "SIZE", {"width": WIDTH, "layers": LAYERS})
    monkeypatch.setattr(tool, "WARM_UP", 0)


def make_step(batch_size=BATCH, corners=CORNERS):
    torch.manual_seed(0)
    return tool.Step(batch_size, corners, CPU)


def gradients(form):
    """Return the loss and the gradients of all weights."""
    step = make_step()
    with step.computed(form):
        loss = step.loss(form)
        loss.backward()
    found = [weights.grad.flatten() for weights in step.model.parameters()]
    return torch.cat([loss.detach().view(1), *found])


def different(corners, device):
    """Return all ordered pairs of different corners."""
    return (~torch.eye(corners, dtype=torch.bool, device=device)).nonzero().T


def test_forms_of_the_same_pairs_have_the_same_gradients():
    expected = gradients(tool.FORMS["once"])
    for name in ("once_recomputed", "once_fused", "once_fused_recomputed"):
        assert torch.allclose(gradients(tool.FORMS[name]), expected, rtol=0, atol=2e-6), name
    rounded = gradients(tool.FORMS["once_fused_bf16"])
    assert not torch.allclose(rounded, expected, rtol=0, atol=1e-5)
    assert torch.nn.functional.cosine_similarity(rounded, expected, 0) > 0.99
    ordered, recomputed = (gradients(tool.FORMS[name]) for name in ("ordered", "ordered_recomputed"))
    assert torch.equal(ordered, recomputed)
    assert not torch.allclose(ordered, expected, rtol=0, atol=1e-4), "corners with themselves are there, too"


@pytest.mark.parametrize("recompute", [False, True])
def test_ours_has_the_gradients_of_all_ordered_pairs(recompute):
    ours, plain = gradients(tool.Form(recompute=recompute)), gradients(tool.Form(different))
    assert torch.allclose(ours, plain, rtol=0, atol=2e-6) and plain.abs().max() > 0.1


def test_a_step_changes_the_weights():
    step = make_step()
    before = torch.nn.utils.parameters_to_vector(step.model.parameters()).clone()
    step(tool.FORMS["ordered"])
    after = torch.nn.utils.parameters_to_vector(step.model.parameters())
    assert (before != after).float().mean() > 0.9
    assert all(weights.grad is None for weights in step.model.parameters())


def test_each_form_is_computed_as_it_is_called(monkeypatch):
    """Which backends may be taken, in which format, over how many tokens, and how often."""
    seen, attention = [], torch.nn.functional.scaled_dot_product_attention

    def noted(q, k, v, attn_mask):
        others = "flash", "mem_efficient", "cudnn"
        only_math = not any(getattr(torch.backends.cuda, f"{name}_sdp_enabled")() for name in others)
        seen.append((only_math, q.dtype, q.shape[2]))
        return attention(q, k, v, attn_mask=attn_mask)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noted)
    step = make_step()
    for name, form in tool.FORMS.items():
        seen.clear()
        step(form)
        most = 4 if "real" in name else CORNERS
        expected = (
            "fused" not in name,
            torch.bfloat16 if "bf16" in name else torch.float32,
            CORNERS**2 if name.startswith("ordered") else most * (most - 1) // 2,
        )
        assert seen == [expected] * (LAYERS * (2 if name.endswith("recomputed") else 1)), name


def test_the_scores_of_all_pairs_are_what_the_forward_pass_keeps():
    """Each layer keeps the shares that attention gives, heads × tokens² of each plan, and no less often."""
    corners = 12
    step = make_step(corners=corners)
    kept = {name: step.kept(form) for name, form in tool.FORMS.items()}
    scores = {count: LAYERS * 4 * BATCH * HEADS * count**2 for count in (corners**2, 66)}
    for name, count in {"ordered": corners**2, "once": 66}.items():
        others = LAYERS * 4 * BATCH * count * WIDTH * 24  # far less than the shares, and no square
        assert scores[count] < kept[name] < scores[count] + others
    assert kept["ordered"] > 3 * kept["once"] > 3 * kept["once_fused"] > 6 * kept["once_fused_recomputed"]
    inputs = LAYERS * 4 * BATCH * 66 * WIDTH
    assert inputs < kept["once_recomputed"] < kept["once_fused"]
    assert kept["once_real_recomputed"] < kept["once_recomputed"]


def test_plans_of_different_sizes_have_30_of_53_corners_on_average():
    counts = make_step(8, 53).counts
    assert counts[True].tolist() == [20, 23, 26, 29, 31, 34, 37, 40]
    assert counts[False].tolist() == [53] * 8


def test_what_lies_behind_the_corners_of_a_smaller_plan_counts_nothing():
    step, form = make_step(), tool.FORMS["once_real_recomputed"]
    before = step.loss(form).item()
    step.corners[0, 3:] = 7
    assert step.counts[True].tolist() == [2, 4]
    assert step.loss(form).item() == pytest.approx(before, rel=1e-5)
    step.corners[0, 1] = 7
    assert step.loss(form).item() != pytest.approx(before, rel=1e-3)


def test_the_plans_are_the_same_from_either_end():
    step = make_step()
    for values in (step.fractions, step.walls):
        assert torch.equal(values, values.mT) and values.unique().numel() > 1


def test_ratios_are_those_of_steps_in_the_same_turn(monkeypatch):
    names = iter(
        list(tool.FORMS)[(number + place) % len(tool.FORMS)]
        for number, place in itertools.product(range(2), range(len(tool.FORMS)))
    )
    turn = itertools.count(len(tool.FORMS))  # each turn is slower than the one before

    def took(work, device):
        return (1 + ("once" in next(names))) * (next(turn) // len(tool.FORMS))

    monkeypatch.setattr(tool, "time_once", took)
    found = tool.measure_steps(make_step(), CPU, 2)
    for name, row in found.items():
        times = 1 + ("once" in name)
        assert row["seconds"]["median"] == times * 1.5
        assert row["ratio"] == {"median": times, "low": times, "high": times}


def test_an_entry_is_stored_for_each_size(monkeypatch, tmp_path, capsys):
    path = tmp_path / "memory.yaml"
    monkeypatch.setattr("sys.argv", ["floorplan_memory"])
    for corners in ("5", "4", "5"):
        argv = ["--device", "cpu", "--batch-size", "2", "--corners", corners, "--rounds", "1"]
        assert tool.main([*argv, "--file", str(path)]) == 0
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert [entry["corners"] for entry in entries] == [4, 5]
    for row, name in zip(entries[1]["forms"], tool.FORMS, strict=True):
        assert row["form"] == name and "peak_bytes" not in row  # of the CPU it cannot be read
        assert 0 < row["seconds"]["low"] <= row["seconds"]["median"] <= row["seconds"]["high"]
    assert [row["tokens"] for row in entries[1]["forms"][:3]] == [25, 25, 10]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 27 and lines[0].startswith("ordered                       25 tokens, keeps ")
