"""A training program that reads its configuration with Hydra."""

# --8<-- [start:train]
import hydra
from omegaconf import DictConfig, OmegaConf

OmegaConf.register_new_resolver("div_up", lambda a, b: -(-a // b), replace=True)


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config: DictConfig) -> None:
    """Print the options of a training."""
    print(OmegaConf.to_yaml(config, resolve=True))


if __name__ == "__main__":
    main()
# --8<-- [end:train]
