"""Estimate work, time, energy and price of a training from a few numbers. It does not need PyTorch.

docs/assets/javascripts/training-calculator.js computes the same in the browser.
"""

SECONDS_PER_HOUR = 3600
BITS_PER_GRADIENT = 32  # float32
HOURS_PER_DAY = 24
JOULES_PER_KWH = 3.6e6


# --8<-- [start:work]
def dense_work(parameters: float, positions: float) -> float:
    """Return the operations of a training step in layers that multiply by a matrix of weights.

    `parameters` is the number of weights in these layers; `positions` is the number of vectors that
    pass through each in a step: the batch size, for sequences times their length. Each weight costs a
    multiplication and an addition forward, and twice that backward.
    """
    return 6 * parameters * positions


def attention_work(layers: int, width: int, length: int, batch: int) -> float:
    """Return the operations of attention without its weights: two products in every layer.

    Each product multiplies and adds `width` numbers for every pair of the `length` positions.
    """
    return 12 * layers * width * length**2 * batch


# --8<-- [end:work]


# --8<-- [start:time]
def seconds_per_step(work: float, peak: float, share: float) -> float:
    """Return the seconds from the operations of a step, the chip's peak per second and the share reached."""
    return work / (peak * share)


def energy_kwh(watts: float, seconds: float) -> float:
    """Return the energy in kWh that a machine drawing `watts` uses in `seconds`."""
    return watts * seconds / JOULES_PER_KWH


def mean_price(price: float, off_peak: float, hours: float) -> float:
    """Return the mean price per kWh of days and nights, with the off-peak price for `hours` a day."""
    return price + (off_peak - price) * hours / HOURS_PER_DAY


def rent(seconds: float, times_as_fast: float, price_per_hour: float) -> float:
    """Return the price of the same training on a rented machine that is `times_as_fast`."""
    return seconds / times_as_fast / SECONDS_PER_HOUR * price_per_hour


def all_reduce_seconds(parameters: float, machines: float, gigabits: float) -> float:
    """Return the least seconds in which `machines` average their gradients, at `gigabits` per second.

    Each of N machines sends 2 (N - 1) / N of the gradients: a part of the sum, then a part of the result.
    """
    sent = 2 * (machines - 1) / machines * parameters * BITS_PER_GRADIENT
    return sent / (gigabits * 1e9)


# --8<-- [end:time]
