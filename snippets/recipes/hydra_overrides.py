"""Change a configuration by words, and see which ones Hydra rejects."""

# --8<-- [start:recipe]
import tempfile
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException

folder = tempfile.mkdtemp()
Path(folder, "config.yaml").write_text("dataset:\n  batch_size: 128\n")
words = ["dataset.batch_size=64", "dataset.num_workers=0", "+dataset.num_workers=0"]

with initialize_config_dir(folder, version_base="1.3"):
    for word in words:
        try:
            print(word, "gives", compose("config", [word]))
        except HydraException as error:
            print(word, "fails:", error)
# --8<-- [end:recipe]
