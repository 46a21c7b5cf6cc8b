"""Read published Caduceus weights as Hugging Face keeps them: config.json beside model.safetensors.

Names and order of computation: caduceus/modeling_caduceus.py and modeling_rcps.py in kuleshov-group/caduceus
on GitHub, commit 0060a6d. The format of weights: https://huggingface.co/docs/safetensors.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import torch

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.tokens import complement_map
from snippets.checkpoints import check_numbers, read_archive
from snippets.errors import UsageError
from snippets.foreign_files import open_regular, read_text, size_of

FILES = ("model.safetensors", "pytorch_model.bin")
LARGEST = 1 << 30  # bytes of a file of weights; the largest published Caduceus has about 31 million
POINTER = b"version https://git-lfs"  # what Git leaves in place of a large file
REQUIRED = {  # what our network can express; each is also the default of the published configuration
    "rms_norm": True,
    "norm_epsilon": 1e-5,
    "bidirectional": True,
    "bidirectional_strategy": "add",
    "bidirectional_weight_tie": True,
}
# Their names as ours, in this order.
RULES = (
    (r"^(caduceus\.)?backbone\.", ""),
    (r"\.submodule\.", "."),
    (r"^embeddings\.word_embeddings\.(embedding\.)?", "embedding."),
    (r"^norm_f\.", "norm."),
    (r"^layers\.(\d+)\.norm\.", r"norms.\1."),
    (r"\.mixer\.mamba_(fwd|rev)\.in_proj\.", ".into."),
    (r"\.mixer\.mamba_(fwd|rev)\.out_proj\.", ".out."),
    (r"\.mixer\.mamba_fwd\.", ".forwards."),
    (r"\.mixer\.mamba_rev\.", ".backwards."),
    (r"\.conv1d\.", ".conv."),
)
NOT_OURS = re.compile(r"(lm_head|score)\.|.*\.complement_map$")  # heads, and what the tokens determine


class Published(NamedTuple):
    """The weights of a published network by the names of our backbone, its file, and our options for it."""

    weights: dict[str, torch.Tensor]
    file: Path
    options: dict[str, Any]


def is_published(path: Path) -> bool:
    """Return whether `path` names published weights, by its suffix or, for a folder, by what is in it."""
    if path.is_dir():
        return weights_in(path) is not None or (
            (path / "config.json").exists() and not (path / "checkpoints").exists()
        )
    return path.suffix in (".safetensors", ".bin")


def weights_in(folder: Path) -> Path | None:
    """Return the file of weights in a folder, or None."""
    return next((folder / name for name in FILES if (folder / name).exists()), None)


def read_published(path: Path) -> Published:
    """Read published weights from a folder, or from a file with config.json beside it. Raises UsageError.

    A small file cannot ask for a large network: sizes are compared on the device "meta", without memory.
    """
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    place = (path if path.is_dir() else path.parent) / "config.json"
    config = read_config(place)
    options = network_options(config, place)
    file = weights_in(path) if path.is_dir() else path
    if file is None:
        raise UsageError(f"{path} has neither {' nor '.join(FILES)}; download one of them")
    found = read_tensors(file)
    with torch.device("meta"):
        expected = Backbone(options["width"], options["layers"], options["state"]).state_dict()
    weights = by_our_names(found, expected, file)
    check_numbers(weights, file)
    if options["rcps"] != any(".mixer.submodule." in name for name in found):
        raise UsageError(f"{file} does not fit rcps={options['rcps']} in config.json; download both again")
    # The name shows whether they were trained with fused_add_norm; the configuration may have been edited.
    if options["rcps"] and not any("norm_f.submodule." in name for name in found):
        weights = without_exchange(weights, options["layers"], file)
    return Published(weights, file, options)


def read_config(path: Path) -> dict[str, Any]:
    """Return the content of config.json. Raises UsageError."""
    try:
        config = json.loads(read_text(path).removeprefix("\ufeff"))
    except FileNotFoundError:
        raise UsageError(
            f"{path.parent} has no config.json, which belongs to published weights; download it, too"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON; download it again") from None
    if not isinstance(config, dict) or config.get("model_type") != "caduceus":
        kind = config.get("model_type") if isinstance(config, dict) else None
        raise UsageError(f"{path} is of no Caduceus network: its model_type is {kind!r}; name one that is")
    return config


def network_options(config: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return width, layers, state and rcps of a configuration. Raises UsageError for another architecture."""
    for key, ours in REQUIRED.items():
        if (found := config.get(key, ours)) != ours:
            raise UsageError(f"{path}: {key} is {found!r}; only networks with {ours!r} can be read")
    partners = config.get("complement_map") or {}
    own = {str(token): int(partner) for token, partner in enumerate(complement_map())}
    if not isinstance(partners, dict) or partners.items() - own.items():
        raise UsageError(f"{path}: complement_map is of other tokens than A=7 to N=11; they cannot be read")
    mamba = config.get("ssm_cfg") or {}
    sizes = {
        "width": ("d_model", config.get("d_model"), 8192),
        "layers": ("n_layer", config.get("n_layer"), 256),
        "state": ("d_state", mamba.get("d_state", 16) if isinstance(mamba, dict) else None, 1024),
    }
    for key, found, most in sizes.values():
        if type(found) is not int or not 1 <= found <= most:
            raise UsageError(f"{path}: {key} is {found!r}, not a number from 1 to {most}; download it again")
    return {option: found for option, (_, found, _) in sizes.items()} | {"rcps": bool(config.get("rcps"))}


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a .safetensors or .bin file by name, on the CPU. Raises UsageError.

    Either kind stores what it unpacks to, so that memory is limited by the size of the file.
    """
    try:
        with open_regular(path) as file:
            size, start = size_of(file), file.read(len(POINTER))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if start == POINTER:
        raise UsageError(f"{path} holds a pointer of Git LFS and no weights; type: git lfs pull")
    if size > LARGEST:
        raise UsageError(f"{path} has {size:,} bytes, more than the {LARGEST:,} that are read")
    if path.suffix == ".safetensors":
        try:
            from safetensors import SafetensorError, safe_open  # only published weights need it
        except ImportError:
            raise UsageError(f"{path} takes the package safetensors; type: pip install safetensors") from None
        try:
            with safe_open(path, framework="pt") as tensors:
                return {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise UsageError(f"cannot read {path}: {error}; download it again") from None
    content = read_archive(path)
    if not isinstance(content, dict) or not all(map(torch.is_tensor, content.values())):
        raise UsageError(f"{path} holds more than weights; name a file that Hugging Face offers")
    return content


def by_our_names(
    found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], path: Path
) -> dict[str, torch.Tensor]:
    """Return published weights by our names, in float32. Raises UsageError unless they fit `expected`.

    Both directions share two projections, which a file may hold under one name or under both.
    """
    weights: dict[str, torch.Tensor] = {}
    for name, value in found.items():
        if NOT_OURS.match(name):
            continue
        own = name
        for theirs, ours in RULES:
            own = re.sub(theirs, ours, own)
        if own not in expected:
            raise UsageError(f"{path} holds {name}, which Caduceus of config.json does not have")
        if value.shape != expected[own].shape:
            there, needed = tuple(value.shape), tuple(expected[own].shape)
            raise UsageError(f"{path}: {name} is {there}, but {needed} by config.json and Caduceus's tokens")
        if own in weights and not torch.equal(weights[own], value.float()):
            raise UsageError(
                f"{path}: {name} differs from that of the other direction; only tied ones are read"
            )
        weights[own] = value.float()
    if missing := sorted(expected.keys() - weights.keys()):
        raise UsageError(f"{path} is incomplete: nothing in it becomes {missing[0]} here")
    return weights


# --8<-- [start:without_exchange]
def without_exchange(weights: dict[str, torch.Tensor], layers: int, path: Path) -> dict[str, torch.Tensor]:
    """Return PS weights of the fused kernel for a network whose strands stay where they are.

    The kernel exchanges the strands in each layer, so that the first, third, … layer reads each strand with
    positions and channels reversed. Reversing the channels of its weights and exchanging its directions does
    the same. After an even number of layers, each strand is in its own place again. Raises UsageError for an
    odd number.
    """
    if layers % 2:
        raise UsageError(f"{path}: fused PS weights of {layers} layers end with exchanged strands; only even")
    turned = {}
    for name, value in weights.items():
        layer = int(name.split(".")[1]) if name.startswith(("norms.", "layers.")) else 1
        if layer % 2 == 0:
            if name.endswith(".into.weight"):
                value = value.flip(1)
            elif name.startswith("norms.") or name.endswith(".out.weight"):
                value = value.flip(0)
            swap = {"forwards": "backwards", "backwards": "forwards"}
            name = ".".join(swap.get(part, part) for part in name.split("."))
        turned[name] = value
    return turned


# --8<-- [end:without_exchange]
