"""The view of runs on a terminal: a block with a curve for each run, or a line each if space is short."""

import textwrap
from collections.abc import Sequence
from itertools import pairwise

from examples.monitoring.loss_history import LossHistory
from examples.monitoring.run_state import RunState
from examples.monitoring.text_curve import ASCII, BRAILLE, Characters, draw_curve

LEAST_BLOCK = 9  # lines: five of text and a curve; with less space, a run gets one line
LARGEST_CURVE = 14  # lines
COLOURS = {"finished": 32, "running": 32, "starting": 36, "interrupted": 33, "silent": 33}
COLOURS |= {"died": 31, "failed": 31, "unreadable": 31}
EIGHTHS = "▏▎▍▌▋▊▉█"


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: 42 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    whole = round(max(seconds, 0))
    units = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]
    for (name, size), (smaller_name, smaller) in pairwise(units):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {name}" + (f" {rest} {smaller_name}" if rest else "")
    return f"{whole} s"


def memory(megabytes: float) -> str:
    """Return an amount of memory in MB or GB (powers of ten)."""
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"


def bar(share: float, width: int, ascii_only: bool) -> str:
    """Return a bar of `width` characters, `share` (0 to 1) of which is filled."""
    share = min(max(share, 0.0), 1.0)
    if ascii_only:
        return ("#" * round(share * width)).ljust(width, ".")
    full, part = divmod(round(share * width * 8), 8)
    return ("█" * full + (EIGHTHS[part - 1] if part else "")).ljust(width, "·")


def cut(line: str, width: int, ascii_only: bool) -> str:
    """Return `line`, shortened to `width` characters."""
    mark = "..." if ascii_only else "…"
    return line if len(line) <= width else (line[: max(width - len(mark), 0)] + mark)[:width]


def last_sign(run: RunState) -> str:
    """Return the age of the last heartbeat as text."""
    if run.age_s is None:
        return ""
    ago = f"{duration(run.age_s)} ago"
    if run.pid is None and not run.over:  # no heartbeat yet
        return f"began {ago}"
    return f"ended {ago}" if run.over and run.status != "died" else f"heartbeat {ago}"


def explain(run: RunState) -> list[str]:
    """Return the lines about problems of a run and their remedies."""
    since = "yet" if run.age_s is None else f"for {duration(run.age_s)}"
    return [*([f"no sign of life {since}; {run.why}"] if run.why else []), *run.notes]


def wrap(note: str, width: int) -> list[str]:
    """Return the lines of a note, which is wrapped but never cut, since it may be a command to copy."""
    indent = " " * 10
    return textwrap.wrap(note, max(width, 20), initial_indent="!".ljust(10), subsequent_indent=indent)


def progress(run: RunState, width: int, ascii_only: bool) -> str:
    """Return the line with step, bar and percentage."""
    if run.step is None:
        return ""
    if not run.total_steps:
        return f"step      {run.step:,}"
    share = run.step / run.total_steps
    left, right = f"step      {run.step:,} of {run.total_steps:,}  ", f"  {share:.1%}"
    room = width - len(left) - len(right)
    return left + bar(share, room, ascii_only) + right if room >= 8 else left.rstrip() + right


def facts(run: RunState, history: LossHistory, width: int, ascii_only: bool) -> list[str]:
    """Return the lines of a block above its curve."""
    separator = ", " if ascii_only else " · "

    def join(*parts: str | None) -> str:
        return separator.join(part for part in parts if part)

    pid = None if run.over or run.pid is None else f"pid {run.pid}"
    now = join(
        None if run.loss is None else f"loss {run.loss:.4g}",
        None if run.samples_per_s is None else f"{run.samples_per_s:,.0f} samples/s",
        None if run.memory_mb is None else memory(run.memory_mb),
        f"{duration(run.eta_s - (run.age_s or 0))} left" if run.status == "running" and run.eta_s else None,
        last_sign(run),
    )
    held_out = {name: value for name, value in history.results.items() if not name.startswith("train_")}
    epoch = join(*(f"{name} {value:.4g}" for name, value in held_out.items()))
    lines = [
        str(run.folder),
        f"{run.status:<9} " + join(run.system, run.device, run.precision, pid),
        *(line for note in explain(run) for line in wrap(note, width)),
        progress(run, width, ascii_only),
        f"{'last' if run.over else 'now':<9} {now}" if now else "",
        f"{'epoch':<9} {epoch}" if epoch else "",
    ]
    return [line.rstrip() for line in lines if line]


def block(
    run: RunState, history: LossHistory, width: int, height: int, characters: Characters = BRAILLE
) -> list[str]:
    """Return up to `height` lines that show one run, with its curve if there is space."""
    ascii_only = characters is ASCII
    lines = [cut(line, width, ascii_only) for line in facts(run, history, width, ascii_only)]
    room = min(height - len(lines), LARGEST_CURVE)
    return [*lines, *draw_curve(history.steps, history.losses, width, room, characters)][:height]


def rows(runs: Sequence[RunState], width: int, ascii_only: bool) -> list[str]:
    """Return one line for each run."""
    mark = "..." if ascii_only else "…"
    room = min(max((len(str(run.folder)) for run in runs), default=0), max(width // 3, len(mark)))
    lines = []
    for run in runs:
        name = str(run.folder)
        if len(name) > room:
            name = (mark + name[len(mark) - room :])[:room]  # the ends of paths distinguish runs
        done = f"{run.step / run.total_steps:.0%}" if run.step is not None and run.total_steps else ""
        loss = "" if run.loss is None else f"loss {run.loss:.4g}"
        speed = "" if run.samples_per_s is None else f"{run.samples_per_s:,.0f}/s"
        left = f"{duration(run.eta_s)} left" if run.status == "running" and run.eta_s else last_sign(run)
        line = f"{run.status:<11} {name:<{room}} {done:>4}  {loss:<14} {speed:>10}  {left}"
        lines.append(cut(line.rstrip(), width, ascii_only))
    return lines


def picture(
    runs: Sequence[tuple[RunState, LossHistory]], width: int, height: int, characters: Characters = BRAILLE
) -> list[str]:
    """Return up to `height` lines of up to `width` characters that show all runs."""
    ascii_only = characters is ASCII
    share = (height - (len(runs) - 1)) // max(len(runs), 1)
    if share < LEAST_BLOCK and len(runs) > 1:
        table = rows([run for run, _ in runs], width, ascii_only)
        if len(table) > height:
            table[height - 1 :] = [f"and {len(table) - height + 1} more"]
        return table
    lines: list[str] = []
    for run, history in runs:
        lines += [*([""] if lines else []), *block(run, history, width, share, characters)]
    return lines


def paint(line: str) -> str:
    """Return `line` in colour if it begins with the status of a run."""
    word = line.partition(" ")[0]
    return f"\x1b[1;{COLOURS[word]}m{word}\x1b[0m{line[len(word) :]}" if word in COLOURS else line
