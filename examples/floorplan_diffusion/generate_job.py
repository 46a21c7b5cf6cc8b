"""What generate.py has to do: networks, options and folder that belong together, new or to go on with."""

import functools
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from examples.floorplan_diffusion.generate_options import GenerateOptions, read_command_line, resolve
from examples.floorplan_diffusion.trained import EDGES, NODES, Stage, Trained, load_trained
from snippets.atomic_write import replace_json
from snippets.framework.errors import UsageError
from snippets.framework.provenance import provenance
from snippets.framework.resume import check_same_options, choose_run
from snippets.framework.run_folder import new_folder
from snippets.framework.tensor_checksum import tensors_crc32
from snippets.framework.training_options import check_saved

SYSTEM = "floorplan_diffusion/generate"


@dataclass(frozen=True)
class Job:
    """Two trained networks, and what they are to draw."""

    options: GenerateOptions
    nodes: Trained
    edges: Trained
    config: dict[str, Any]  # what decides which plans come out, weights included


def load_job(values: dict[str, Any]) -> Job:
    """Return the job that options mean; those that are missing have their defaults. Raises UsageError."""
    options = resolve(values)

    def load(stage: Stage, run: str | None) -> Trained:
        return load_trained(stage, None if run is None else Path(run))

    nodes, edges = load(NODES, options.nodes), load(EDGES, options.edges)
    checkpoints = {"nodes": str(nodes.checkpoint.resolve()), "edges": str(edges.checkpoint.resolve())}
    options = replace(options, **checkpoints)
    config = {
        "system": SYSTEM,
        "options": asdict(options),
        "nodes_crc32": tensors_crc32(nodes.network.state_dict().values()),
        "edges_crc32": tensors_crc32(edges.network.state_dict().values()),
    }
    return Job(options, nodes, edges, config)


def open_job(typed: dict[str, Any]) -> tuple[Job, Path, str | None]:
    """Return what was typed as a job, its folder, which is new or begun, and a note. Raises UsageError."""
    fresh = functools.cache(lambda: load_job(typed))
    choice = choose_run(
        SYSTEM,
        typed.get("out"),
        typed.get("resume"),
        lambda config: fresh().config.items() <= config.items(),
    )
    if choice.config is None:
        job = fresh()
        folder = new_folder(choice.folder, SYSTEM)
        replace_json(folder / "config.json", job.config | {"provenance": provenance()})
        return job, folder, choice.note
    folder, saved = choice.folder, choice.config["options"]
    check_saved(choice.config, read_command_line, GenerateOptions, folder / "config.json")
    job = load_job(saved | typed)
    check_same_options(saved, asdict(job.options), folder)
    for name, trained in (("nodes", job.nodes), ("edges", job.edges)):
        if choice.config.get(f"{name}_crc32") != job.config[f"{name}_crc32"]:
            raise UsageError(
                f"{trained.checkpoint} has other weights than when {folder} was begun; "
                "start anew with another --out"
            )
    return job, folder, f"going on in {folder}"
