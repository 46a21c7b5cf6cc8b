"""A test of a training with timm for any device: unlike Lightning, timm has to be told which."""

# --8<-- [start:tests]
import timm
import torch
from timm.data import Mixup, create_loader
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3
from torchvision.datasets import FakeData

DEVICE = torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def test_timm_trains():
    """Finds what loader, Mixup, network, LAMB and averaged weights call that MPS does not have."""
    network = timm.create_model("test_vit", pretrained=False, num_classes=4).to(DEVICE)
    average = ModelEmaV3(network)
    optimizer = create_optimizer_v2(network, opt="lamb", lr=1e-3)
    mixup = Mixup(cutmix_alpha=1.0, num_classes=4)
    pictures = FakeData(8, (3, 160, 160), num_classes=4)
    batches = create_loader(pictures, 160, 4, is_training=True, num_workers=0, device=DEVICE)
    for images, labels in batches:
        images, labels = mixup(images, labels)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(network)
    assert loss.isfinite()
    assert not torch.equal(average.module.get_classifier().weight, network.get_classifier().weight)


# --8<-- [end:tests]
