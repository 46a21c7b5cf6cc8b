"""Tables of the floor-plan system: memory and time of a training step of stage 2, in several forms."""

from collections.abc import Callable
from typing import Any

from markdown_tables import SPREAD, Column, figures, milliseconds, written
from origins import explained, load, origin

GB = written(",.3g", 1e-9)
FORMS = {
    "ordered": {"en": "all ordered pairs", "zh": "所有有序对"},
    "ordered_recomputed": {"en": "all ordered pairs, recomputed", "zh": "所有有序对，重新计算"},
    "once": {"en": "each pair once", "zh": "每对一次"},
    "once_recomputed": {"en": "each pair once, recomputed", "zh": "每对一次，重新计算"},
    "once_real_recomputed": {
        "en": "each pair once, recomputed; smaller plans",
        "zh": "每对一次，重新计算；户型图较小",
    },
    "once_fused": {"en": "each pair once, fused", "zh": "每对一次，融合"},
    "once_fused_recomputed": {"en": "each pair once, fused, recomputed", "zh": "每对一次，融合，重新计算"},
    "once_fused_bf16": {"en": "each pair once, fused, bf16", "zh": "每对一次，融合，bf16"},
    "once_fused_bf16_recomputed": {
        "en": "each pair once, fused, bf16, recomputed",
        "zh": "每对一次，融合，bf16，重新计算",
    },
}
MEMORY = (
    Column("Form", "形式", "form", FORMS.__getitem__),
    Column("Tokens per plan", "每张图的 token", "tokens", written(",")),
    Column("Kept for backward", "为反向传播保留", "kept_bytes", GB, "{} GB"),
    Column("Peak", "峰值", "peak_bytes", GB, "{} GB"),
    Column("ms per step", "每步毫秒数", "seconds", milliseconds, SPREAD),
    Column("Time, ratio to the first row", "用时，与第一行之比", "ratio", figures, SPREAD),
)
ABOUT = {
    "en": "Batch size {batch_size}, {corners} corners in every plan ({smallest} to {largest} in the smaller "
    "ones), {parameters:,} parameters, float32 unless the row names bf16. In the rows with “fused”, PyTorch "
    "chooses how attention is computed. All others compute every score and keep it (`SDPBackend.MATH`), as "
    "MPS does when it trains. The peak comes on top of {always:.2f} GB for weights, gradients and the "
    "optimizer. Times are medians of {rounds} steps, with the 10% and 90% quantiles.",
    "zh": "批大小 {batch_size}，每张户型图 {corners} 个墙角（较小的有 {smallest} 到 {largest} 个），"
    "{parameters:,} 个参数，没有写 bf16 的行用 float32。在写着“融合”的行里，注意力怎样计算由 PyTorch 选择；"
    "其他行计算并保留每一个分数（`SDPBackend.MATH`），和 MPS 训练时一样。峰值不含权重、梯度和优化器的 "
    "{always:.2f} GB。用时是 {rounds} 步的中位数，括号里是 10% 和 90% 分位数。",
}


def memory(language: str) -> str:
    """Return what a step of stage 2 keeps and takes in each form, a table for each machine."""
    return "\n".join(memory_of(entry, language) for entry in load("floorplan_memory"))


def memory_of(entry: dict[str, Any], language: str) -> str:
    """Return the table of one machine."""
    counts = entry["real_corners"]
    about = ABOUT[language].format(
        **entry, always=entry["always_bytes"] / 1e9, smallest=min(counts), largest=max(counts)
    )
    return explained(MEMORY, entry["forms"], language, about, origin(entry, language))


TABLES: dict[str, Callable[[str], str]] = {"floorplan-memory": memory}
