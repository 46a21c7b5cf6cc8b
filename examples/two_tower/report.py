"""The report of a run: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder
from examples.two_tower.options import Options

if TYPE_CHECKING:
    from examples.two_tower.train import Retrieval

HEADER = "epoch   step  train loss  batch acc  held-out R@1     R@5    R@50     MRR  pairs/s"
FEW_COVERED = 0.5  # share of rows with a near miss, below which a run prints a warning


def describe(task: "Retrieval", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, data, negatives, recipe."""
    options, pairs = task.options, task.pairs
    blocks = f"{options.layers} state-space blocks, state {options.state}"
    tower = blocks if options.tower == "ssm" else f"GRU, {options.layers} layers"
    held_out = int(task.held_out.sum())
    articles = len(pairs.articles.unique())
    kept = len(pairs.articles[task.held_out].unique())
    return [
        f"network    width {options.width}, {tower}: {config['parameters']:,} parameters",
        *machine_lines(config),
        f"data       {pairs.name}: {pairs.source}",
        f"           {len(pairs) - held_out:,} pairs of {articles - kept:,} articles to learn from, "
        f"{held_out:,} of {kept:,} held out",
        f"           without training: {in_words(config['untrained'])}",
        *([f"           at best: {in_words(config['best'])}"] if config.get("best") else []),
        *negatives_lines(options, config),
        recipe_line(options, config, f"AdamW, lr {options.lr:g} (cosine)", "pairs"),
    ]


def negatives_lines(options: Options, config: dict[str, Any]) -> list[str]:
    """Return the lines about the negatives, with a warning when few contexts have a near miss."""
    extra = f"{options.same_article_k} of the own article, {options.near_miss_k} near miss"
    lines = [f"negatives  the batch's payloads of other articles, {extra}{'es' * (options.near_miss_k != 1)}"]
    if options.p_cache:
        lines.append(f"           vectors from {options.p_cache}: they stay as they are, and grow stale")
    lines += [f"note       {note}" for note in config.get("notes", [])]
    coverage = config.get("near_miss_coverage")
    if coverage is not None and coverage < FEW_COVERED:
        lines.append(f"note       only {coverage:.0%} of the pairs have a near miss; mine more: --k")
    return lines


def in_words(scores: dict[str, float]) -> str:
    """Return retrieval scores as text."""
    return f"R@1 {scores['recall_1']:.1%}, R@5 {scores['recall_5']:.1%}, MRR {scores['mrr']:.3f}"


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_accuracy']:10.1%} "
        f"{result['recall_1']:13.1%} {result['recall_5']:7.1%} {result['recall_50']:7.1%} "
        f"{result['mrr']:7.3f} {speed:8.0f}"
    )


def curves(task: "Retrieval") -> tuple[Curves, Curves]:
    """Return the panels of curves.png, with the scores without training and the best possible ones."""
    best = task.facts.get("best") or {}
    loss = Curves("contrastive loss (nats)", {"training": "train_loss"}, single="loss", logarithmic=True)
    limits = {"best possible": best.get("recall_5"), "untrained": task.facts["untrained"]["recall_5"]}
    return loss, Curves("own payload among the 5 best", {"held out": "recall_5"}, limits, percent=True)


def conclude(task: "Retrieval", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    result, before, progress = task.state.progress["result"], task.facts["untrained"], task.state.progress
    title = f"{task.pairs.name}: R@5 {result['recall_5']:.1%}, without training {before['recall_5']:.1%}"
    draw_curves(run.metrics_file, run.path / "curves.png", title, curves(task))
    lines = [f"done       {in_words(result)}, after {progress['seconds']:.1f} s"]
    gain = result["recall_5"] - before["recall_5"]
    if gain <= 0:
        lines.append("           no better than without training: train longer, or with more pairs")
    return lines + write_summary(run, task.options, task.state, untrained=before, best=task.facts.get("best"))
