"""Types for a part of a configuration, since YAML accepts a word in place of a number."""

# --8<-- [start:types]
from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf


@dataclass
class TrainerOptions:
    accelerator: str
    max_epochs: int
    accumulate_grad_batches: int


def checked(config: DictConfig) -> DictConfig:
    """Return the trainer's options. Raises ValidationError for a wrong type, ConfigKeyError for a new key."""
    return OmegaConf.merge(OmegaConf.structured(TrainerOptions), config.trainer)


# --8<-- [end:types]
