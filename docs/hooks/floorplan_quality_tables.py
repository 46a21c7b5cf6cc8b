"""Tables of the floor-plan system: what was trained, what each sampler draws, what three options bring."""

from collections.abc import Callable
from typing import Any

from markdown_tables import SPREAD, Column, figures, written
from origins import explained, load, named, origin, processor

SHARE, TWO, COUNT = written(".1%"), written(".2f"), written(",")
RUNS = {
    "default": {"en": "the small networks (default)", "zh": "小网络（默认）"},
    "quality": {"en": "trained longer", "zh": "训练更久"},
}
DATA = {"en": "plans by the rule (test)", "zh": "按规则画的户型图（测试集）"}
RANDOM = {"en": "corners at random places", "zh": "位置随机的墙角"}
DRAWN = (
    Column("Plans", "户型图", "name"),
    Column("Corners in line", "成行的墙角", "in_line", SHARE),
    Column("Closed", "闭合", "closed", SHARE),
    Column("Closed, straightened", "拉直后闭合", "closed_straightened", SHARE),
    Column("Corners", "墙角数", "corners", TWO),
    Column("Rooms", "房间数", "rooms", TWO),
    Column("Distance of room counts", "房间数分布的距离", "room_distance", TWO),
)
TRAININGS = (
    Column("Run", "训练", "name"),
    Column("Stage", "阶段", "stage"),
    Column("Parameters", "参数", "parameters", COUNT),
    Column("Plans", "户型图", "plans", COUNT),
    Column("Steps", "步数", "steps", COUNT),
    Column("Batch", "批大小", "batch_size"),
    Column("Seconds", "秒", "seconds", written(",.0f")),
    Column("Held-out loss", "留出损失", "val_loss", TWO),
    Column("F1 of walls", "墙的 F1", "val_f1", written(".4f")),
)
SAMPLERS = (
    Column("Networks", "网络", "name"),
    Column("Sampler", "采样器", ("sampler", "steps"), form="{} {}"),
    Column("Seconds", "秒", "seconds", figures, SPREAD),
    Column("Corners in line", "成行的墙角", "in_line", SHARE),
    Column("Closed, straightened", "拉直后闭合", "closed_straightened", SHARE),
    Column("Rooms", "房间数", "rooms", TWO),
)
RECIPES = {
    "all": {"en": "all three (default)", "zh": "三项都用（默认）"},
    "no_focus": {"en": "steps drawn evenly", "zh": "均匀抽取时间步"},
    "no_place_weight": {"en": "equal weights", "zh": "权重相同"},
    "no_muon": {"en": "AdamW", "zh": "AdamW"},
    "no_muon_slower": {"en": "AdamW, lower learning rate", "zh": "AdamW，学习率较低"},
    "none": {"en": "none of the three", "zh": "三项都不用"},
    "none_slower": {"en": "none, lower learning rate", "zh": "三项都不用，学习率较低"},
}
ABLATION = (
    Column("Training", "训练", "name"),
    Column("Options", "选项", "options", "`{}`".format),
    Column("Corners in line", "成行的墙角", "in_line"),
    Column("Closed", "闭合", "closed"),
    Column("Rooms", "房间数", "rooms"),
)
ABOUT = {
    "ablation": {
        "en": "Two trainings each, with seeds {seeds[0]} and {seeds[1]}; {count} plans drawn after each, by "
        "DDPM with 1,000 steps.",
        "zh": "各训练两次，种子为 {seeds[0]} 和 {seeds[1]}；每次训练后画 {count} 张，DDPM 1,000 步。",
    },
    "drawn": {
        "en": "{count} plans each, DDPM with 1,000 steps, seed {seed}.",
        "zh": "各 {count} 张，DDPM 1,000 步，种子 {seed}。",
    },
    "samplers": {
        "en": "Times are of {batch_size} plans, corners only: medians of {batches} batches, with the 10% and "
        "90% quantiles.",
        "zh": "用时是 {batch_size} 张户型图的墙角，{batches} 批的中位数，括号里是 10% 和 90% 分位数。",
    },
}


def drawn(language: str) -> str:
    """Return figures of drawn plans, of the generator's and of random corners."""
    entries = load("floorplan_quality")
    rows: list[dict[str, Any]] = [
        entries[0]["data"] | {"name": DATA},
        entries[0]["random"] | {"name": RANDOM},
        *(slowest(entry) | {"name": RUNS[entry["name"]]} for entry in entries),
    ]
    about = ABOUT["drawn"][language].format(**entries[0])
    return explained(DRAWN, rows, language, about, *origins(entries, language))


def slowest(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what DDPM draws with all steps."""
    (row,) = (row for row in entry["samplers"] if (row["sampler"], row["steps"]) == ("ddpm", 1000))
    return row


def trainings(language: str) -> str:
    """Return what was trained, for how long and where, a row for each stage of each run."""
    entries = load("floorplan_quality")
    rows = [
        entry[stage] | {"name": RUNS[entry["name"]], "stage": number}
        for entry in entries
        for number, stage in enumerate(("nodes", "edges"), 1)
    ]
    where = [
        named(RUNS[entry["name"]][language], trained_on(entry["nodes"], entry, language), language)
        for entry in entries
    ]
    return explained(TRAININGS, rows, language, *where)


def trained_on(run: dict[str, Any], entry: dict[str, Any], language: str) -> str:
    """Return where and by which command a network was trained."""
    machine = processor(entry["machine"], run["device"], language)
    both = f"`{run['trained_by']}`", f"`{entry['edges']['trained_by']}`"
    if language == "zh":
        return f"{machine}，{run['precision']}；{both[0]}；{both[1]}。"
    return f"{machine}, {run['precision']}; {both[0]}; {both[1]}."


def samplers(language: str) -> str:
    """Return time and quality of each sampler with each pair of networks."""
    entries = load("floorplan_quality")
    rows = [row | {"name": RUNS[entry["name"]]} for entry in entries for row in entry["samplers"]]
    first = entries[0]
    batches = -(-first["count"] // first["batch_size"])
    about = ABOUT["samplers"][language].format(**first, batches=batches)
    return explained(SAMPLERS, rows, language, about, *origins(entries, language))


def origins(entries: list[dict[str, Any]], language: str) -> list[str]:
    """Return where the figures of each pair of networks come from; once, where that is the same."""
    found = {origin(entry | {"command": None}, language): RUNS[entry["name"]][language] for entry in entries}
    if len(found) == 1:
        return list(found)
    return [named(name, sentence, language) for sentence, name in found.items()]


def ablation(language: str) -> str:
    """Return what is drawn after trainings with and without three options, the figures of both seeds."""
    (entry,) = load("floorplan_ablation")
    rows = [
        {
            "name": RECIPES[row["name"]],
            "options": " ".join(row["options"]) or None,
            "in_line": both(row["in_line"], SHARE),
            "closed": both(row["closed"], SHARE),
            "rooms": both(row["rooms"], TWO),
        }
        for row in entry["rows"]
    ]
    return explained(
        ABLATION, rows, language, ABOUT["ablation"][language].format(**entry), origin(entry, language)
    )


def both(values: list[float], form: Callable[[Any], str]) -> str:
    """Return the values of all seeds."""
    return " / ".join(map(form, values))


TABLES: dict[str, Callable[[str], str]] = {
    "floorplan-drawn": drawn,
    "floorplan-trainings": trainings,
    "floorplan-samplers": samplers,
    "floorplan-ablation": ablation,
}
