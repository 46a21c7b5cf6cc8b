"""The rows of a benchmark: speed-ups, comparison of losses, and the printed table."""

import math
import statistics
from dataclasses import dataclass, field
from typing import Any

from examples.benchmarking.child import Job
from snippets.timing import spread

COMPARED = 10  # last losses, whose means are compared
TOLERANCE = 0.05  # of the reference's loss: bf16 and other random crops change the first loss by less
SPREADS = 3.0  # standard errors of the difference of two such means

HEADER = (
    f"{'level':<18} {'batch':>6} {'workers':>7} {'ms/step':>9} {'10 % to 90 %':>19} "
    f"{'samples/s':>10} {'speed-up':>8} {'start':>8} {'data':>5} {'memory':>9} {'loss':>8}"
)


@dataclass
class Row:
    """The result of one level at one batch size and number of workers."""

    job: Job
    result: dict[str, Any]
    speed_up: float | None = None  # over the first measured level of the same sweep point
    loss_differs: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether the level was measured."""
        return self.result["status"] == "measured"

    @property
    def point(self) -> tuple[int | None, int | None]:
        """The point of a sweep; levels are compared only at the same point."""
        return self.job.batch_size, self.job.workers


def last_loss(losses: list[float]) -> float:
    """Return the mean of the last COMPARED losses."""
    return statistics.fmean(losses[-COMPARED:])


def losses_differ(reference: list[float], losses: list[float]) -> bool:
    """Return whether the losses of a level differ from the reference by more than the tolerance.

    Levels start from equal weights and the same batch, so their first losses may differ by 5 %. Rounding and
    a device's own random crops increase the difference, so the means of the last losses may differ by 5 % or
    three standard errors of the difference, whichever is larger. This detects NaN, a network that does not
    learn and gross errors. It cannot prove that a result is right.
    """
    first, second = reference[-COMPARED:], losses[-COMPARED:]
    difference = abs(last_loss(first) - last_loss(second))
    if not math.isfinite(difference) or abs(losses[0] - reference[0]) > TOLERANCE * abs(reference[0]):
        return True
    noise = SPREADS * math.sqrt((variance(first) + variance(second)) / len(first))
    return difference > max(TOLERANCE * abs(last_loss(first)), noise)


def variance(values: list[float]) -> float:
    """Return the variance of the values, 0 for a single one."""
    return statistics.variance(values) if len(values) > 1 else 0.0


def add_row(rows: list[Row], job: Job, result: dict[str, Any]) -> Row:
    """Append a row, compared with the first measured one of the same sweep point, and return it."""
    row = Row(job, result)
    if row.measured:
        reference = next((r for r in rows if r.measured and r.point == row.point), row)
        row.speed_up = result["samples_per_s"] / reference.result["samples_per_s"]
        row.loss_differs = losses_differ(reference.result["losses"], result["losses"])
    rows.append(row)
    return row


def line(row: Row) -> str:
    """Return a row of the table under HEADER."""
    result = row.result
    batch, workers = ("" if value is None else value for value in row.point)
    if not row.measured:
        return f"{row.job.level.name:<18} {batch:>6} {workers:>7} not available: {result['reason']}"
    times = spread([1e3 * seconds for seconds in result["seconds"]])
    limits = f"{times.low:.3f} to {times.high:.3f}"
    mark = " differs" if row.loss_differs else ""
    return (
        f"{row.job.level.name:<18} {result['samples_per_step']:6d} {workers:>7} "
        f"{times.median:9.3f} {limits:>19} {result['samples_per_s']:10.1f} {row.speed_up:7.2f}× "
        f"{result['start_s']:6.1f} s {result['data_share']:5.0%} {result['memory_mb']:6.0f} MB "
        f"{last_loss(result['losses']):8.4f}{mark}"
    )


def as_record(row: Row) -> dict[str, Any]:
    """Return a row for the JSON file: summary values first, then the single readings."""
    level, result = row.job.level, row.result
    record = {"level": level.name, "batch_size": row.job.batch_size, "workers": row.job.workers}
    record["status"] = result["status"]
    if not row.measured:
        return record | {"reason": result["reason"]}
    times = spread(result["seconds"])
    return record | {
        "median_s": times.median,
        "low_s": times.low,
        "high_s": times.high,
        "speed_up": row.speed_up,
        "last_loss": finite(last_loss(result["losses"])),
        "loss_differs": row.loss_differs,
        **{key: value for key, value in result.items() if key not in ("status", "losses", "seconds")},
        "losses": [finite(loss) for loss in result["losses"]],
        "seconds": result["seconds"],
    }


def finite(value: float) -> float | None:
    """Return `value`, or None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None
