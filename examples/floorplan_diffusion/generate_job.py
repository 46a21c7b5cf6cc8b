"""The job of generate.py: networks, options and folder, new or to be continued."""

import functools
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from examples.floorplan_diffusion.generate_options import GenerateOptions, read_command_line, resolve
from examples.floorplan_diffusion.trained import EDGES, NODES, Stage, Trained, load_trained
from examples.programs.options import check_same_options, check_saved
from examples.programs.report import provenance
from examples.programs.resume import choose_run
from examples.programs.run_folder import check_new_folder, new_folder, only_process
from snippets.atomic_write import replace_json
from snippets.errors import UsageError
from snippets.untrusted_checkpoints import tensors_crc32

SYSTEM = "floorplan_diffusion/generate"


@dataclass(frozen=True)
class Job:
    """Two trained networks and the options of the plans to draw."""

    options: GenerateOptions
    nodes: Trained
    edges: Trained
    config: dict[str, Any]  # everything that determines the plans, including weights


def load_job(values: dict[str, Any]) -> Job:
    """Return the job of the options, with defaults for missing ones. Raises UsageError."""
    options = resolve(values)

    def load(stage: Stage, run: str | None) -> Trained:
        return load_trained(stage, None if run is None else Path(run))

    nodes, edges = load(NODES, options.nodes), load(EDGES, options.edges)
    checkpoints = [str(trained.checkpoint.resolve()) for trained in (nodes, edges)]
    options = replace(options, nodes=checkpoints[0], edges=checkpoints[1])
    config = {
        "system": SYSTEM,
        "options": asdict(options),
        "nodes_crc32": tensors_crc32(nodes.network.state_dict().values()),
        "edges_crc32": tensors_crc32(edges.network.state_dict().values()),
    }
    return Job(options, nodes, edges, config)


def open_job(typed: dict[str, Any], opened: ExitStack) -> tuple[Job, Path, list[str]]:
    """Return the job of the typed options, its folder, new or to be continued, and notes. Raises UsageError.

    The folder is locked for other processes until `opened` is closed.
    """
    fresh = functools.cache(lambda: load_job(typed))
    choice = choose_run(
        SYSTEM,
        typed.get("out"),
        typed.get("resume"),
        lambda config: fresh().config.items() <= config.items(),
    )
    if choice.config is None or choice.folder is None:
        job = fresh()
        if typed.get("resume") and choice.folder and (choice.folder / "config.json").exists():
            return open_job(typed, opened)  # another process has started there in the meantime
        folder = new_folder(choice.folder, SYSTEM)
        unlocked = opened.enter_context(only_process(folder, "drawing"))
        check_new_folder(folder)
        replace_json(folder / "config.json", job.config | {"provenance": provenance()})
        return job, folder, [*filter(None, (choice.note, unlocked))]
    folder, saved = choice.folder, choice.config["options"]
    unlocked = opened.enter_context(only_process(folder, "drawing"))
    check_saved(choice.config, read_command_line, GenerateOptions, folder / "config.json")
    job = load_job(saved | typed)
    check_same_options(saved, asdict(job.options), folder)
    for name, trained in (("nodes", job.nodes), ("edges", job.edges)):
        if choice.config.get(f"{name}_crc32") != job.config[f"{name}_crc32"]:
            raise UsageError(
                f"{trained.checkpoint} has other weights than when {folder} was begun; "
                "start anew with another --out"
            )
    return job, folder, [f"going on in {folder}", *filter(None, [unlocked])]
