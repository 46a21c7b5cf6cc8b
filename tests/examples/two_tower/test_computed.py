"""What pages say of the programs, docs/data/computed/two_tower.yaml, is what the programs compute."""

import torch
from torch.nn import functional as F

from examples.two_tower.data_sources import load_pairs
from examples.two_tower.loss import info_nce
from examples.two_tower.model import Shape, expected_parameters
from examples.two_tower.options import SIZES, resolve
from examples.two_tower.train import Retrieval
from tools.figures import DATA
from tools.read_yaml import read_yaml

ORIGIN = Shape(**SIZES["origin"])


def origin():
    """Return the weights of both towers, and those by which a block differs from the guide's."""
    context, payload = expected_parameters(768, ORIGIN)
    inner, rank = ORIGIN.inner, ORIGIN.dt_rank
    full = inner * inner + inner  # with its bias
    low_rank = inner * rank + (rank + 1) * inner
    thrown_away = inner * ORIGIN.state  # half of what chooses B and C
    return {"context": context, "payload": payload, "saved": full - low_rank, "thrown_away": thrown_away}


def data(name):
    options = resolve({"data": name})
    pairs = load_pairs(name, options.rows, options.noise, options.seed)
    return {
        "pairs": len(pairs),
        "articles": len(pairs.articles.unique()),
        "width": pairs.payloads.shape[1],
    }


def loss_of_equal_vectors(batch, extra):
    one = F.normalize(torch.ones(1, 16))
    none = torch.zeros(batch, batch, dtype=torch.bool), torch.zeros(batch, extra, dtype=torch.bool)
    equal = one.expand(batch, 16)
    return info_nce(equal, equal, torch.tensor(14.0), one.expand(batch, extra, 16), *none)[0].item()


def test_the_pages_say_what_is_computed():
    said = read_yaml(DATA / "computed/two_tower.yaml")
    del said["scan_operations"]  # compared by the tests of the scan
    generated = Retrieval(resolve({"data": "generated", "device": "cpu"})).facts
    assert said == {
        "parameters": {
            name: {width: sum(expected_parameters(width, Shape(**size))) for width in (1024, 768)}
            for name, size in SIZES.items()
        },
        "origin": origin(),
        "data": {name: data(name) for name in ("pages", "generated")},
        "generated": {
            "parameters": generated["parameters"],
            "best": round(generated["best"]["recall_5"], 4),
        },
        "equal_vectors": round(loss_of_equal_vectors(64, 4), 4),
    }
