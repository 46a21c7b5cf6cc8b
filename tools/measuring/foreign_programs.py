"""Programs of a few lines with projects that others wrote, on the device mps; foreign_projects.py runs them.

    python -m simulated_mps -m tools.measuring.foreign_programs NAME

Each takes its project's own way to train or compute, on random data, with networks as small as they can be.
"""

import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional

MPS = torch.device("mps")


def step(network: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer | None = None) -> None:
    """Take one step of the optimizer, AdamW without another."""
    optimizer = optimizer or torch.optim.AdamW(network.parameters())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def timm() -> None:
    """Train four networks one step with Mixup, LAMB and an average of the weights."""
    import timm
    from timm.data import Mixup
    from timm.optim import create_optimizer_v2
    from timm.utils import ModelEmaV3

    for name, size in (
        ("resnet18", 64),
        ("vit_tiny_patch16_224", 224),
        ("convnext_atto", 64),
        ("efficientnet_b0", 64),
    ):
        network = timm.create_model(name, num_classes=4).to(MPS)
        average = ModelEmaV3(network)
        optimizer = create_optimizer_v2(network, opt="lamb", lr=1e-3)
        images, targets = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=4)(
            torch.randn(2, 3, size, size, device=MPS), torch.tensor([0, 3], device=MPS)
        )
        step(network, functional.cross_entropy(network(images), targets), optimizer)
        average.update(network)


def lightning() -> None:
    """Train two epochs with a metric and clipped gradients."""
    import pytorch_lightning as pl
    from torchmetrics.classification import MulticlassAccuracy

    class Classifier(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
            self.accuracy = MulticlassAccuracy(4)

        def training_step(self, batch, _):
            scores = self.network(batch[0])
            self.log("accuracy", self.accuracy(scores, batch[1]), on_epoch=True)
            return functional.cross_entropy(scores, batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.TensorDataset(torch.randn(32, 8, 8), torch.arange(32) % 4)
    trainer = pl.Trainer(
        accelerator="mps",
        max_epochs=2,
        logger=False,
        enable_checkpointing=False,
        gradient_clip_val=1.0,
        enable_progress_bar=False,
    )
    trainer.fit(Classifier(), torch.utils.data.DataLoader(data, batch_size=8))


def transformers() -> None:
    """Train GPT-2 with Trainer, then generate by sampling and by beams."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    network = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
        )
    )
    data = [{"input_ids": torch.arange(16) + i, "labels": torch.arange(16) + i} for i in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            max_steps=3,
            per_device_train_batch_size=2,
            report_to=[],
            save_strategy="no",
            logging_steps=1,
        )
        Trainer(network, arguments, train_dataset=data).train()
    network.generate(
        torch.zeros(1, 1, dtype=torch.long, device=MPS), max_new_tokens=8, do_sample=True, top_p=0.9
    )
    network.generate(torch.zeros(1, 1, dtype=torch.long, device=MPS), max_new_tokens=8, num_beams=3)


def accelerate() -> None:
    """Train in fp16 with accumulated and clipped gradients."""
    from accelerate import Accelerator

    ours = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
    network = nn.Linear(8, 4)
    data = torch.utils.data.TensorDataset(torch.randn(16, 8), torch.arange(16) % 4)
    network, optimizer, batches = ours.prepare(
        network, torch.optim.AdamW(network.parameters()), torch.utils.data.DataLoader(data, batch_size=4)
    )
    for inputs, labels in batches:
        with ours.accumulate(network):
            ours.backward(functional.cross_entropy(network(inputs), labels))
            if ours.sync_gradients:
                ours.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    ours.gather_for_metrics(labels)


def diffusers() -> None:
    """Train a U-Net with attention one step, then sample by DDIM."""
    from diffusers import DDIMPipeline, DDIMScheduler, DDPMScheduler, UNet2DModel

    network = UNet2DModel(
        sample_size=16,
        block_out_channels=(32, 32),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    ).to(MPS)
    noise = DDPMScheduler()
    images = torch.randn(2, 3, 16, 16, device=MPS)
    added, steps = torch.randn_like(images), torch.randint(0, 1000, (2,), device=MPS)
    step(network, functional.mse_loss(network(noise.add_noise(images, added, steps), steps).sample, added))
    pipeline = DDIMPipeline(network, DDIMScheduler())
    pipeline.set_progress_bar_config(disable=True)
    pipeline(num_inference_steps=3, output_type="np")


def peft() -> None:
    """Train Llama with DoRA one step, then merge."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    base = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
        )
    )
    network = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], use_dora=True)).to(
        MPS
    )
    tokens = torch.randint(0, 64, (2, 8), device=MPS)
    step(network, network(input_ids=tokens, labels=tokens).loss)
    network.merge_and_unload()


def torch_geometric() -> None:
    """Compute three kinds of graph convolutions, pooling and their gradients."""
    from torch_geometric.data import Batch, Data
    from torch_geometric.nn import GATv2Conv, GCNConv, SAGEConv, TopKPooling, global_mean_pool
    from torch_geometric.utils import dropout_edge, to_dense_adj

    edges = torch.randint(0, 10, (2, 40))
    batch = Batch.from_data_list([Data(x=torch.randn(10, 8), edge_index=edges) for _ in range(3)]).to(MPS)
    first, second, third, pool = (
        GCNConv(8, 8).to(MPS),
        GATv2Conv(8, 8).to(MPS),
        SAGEConv(8, 4, aggr="max").to(MPS),
        TopKPooling(8).to(MPS),
    )
    edge_index, _ = dropout_edge(batch.edge_index)
    hidden = second(first(batch.x, edge_index).relu(), edge_index)
    hidden, edge_index, _, groups, _, _ = pool(hidden, edge_index, batch=batch.batch)
    global_mean_pool(third(hidden, edge_index), groups).sum().backward()
    to_dense_adj(batch.edge_index, batch.batch)


def kornia() -> None:
    """Augment images, and compute losses, filters, morphology and a homography."""
    import kornia
    from kornia import augmentation

    images = torch.rand(2, 3, 32, 32, device=MPS, requires_grad=True)
    random = augmentation.AugmentationSequential(
        augmentation.RandomAffine(15.0),
        augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1),
        augmentation.RandomPerspective(),
        augmentation.RandomElasticTransform(),
        augmentation.RandomGaussianBlur((3, 3), (0.1, 2.0)),
        data_keys=["input"],
    )
    changed = random(images)
    (kornia.losses.ssim_loss(changed, images.detach(), 5) + kornia.filters.sobel(images).mean()).backward()
    kornia.enhance.equalize(images.detach())
    kornia.feature.harris_response(images.detach())
    kornia.geometry.homography.find_homography_dlt(
        torch.rand(1, 8, 2, device=MPS), torch.rand(1, 8, 2, device=MPS)
    )
    kornia.morphology.dilation(images.detach(), torch.ones(3, 3, device=MPS))


def torchmetrics() -> None:
    """Update and compute metrics of classification, regression, images and retrieval."""
    from torchmetrics import MeanMetric, MetricCollection, PearsonCorrCoef, SpearmanCorrCoef
    from torchmetrics.classification import (
        MulticlassAccuracy,
        MulticlassAUROC,
        MulticlassAveragePrecision,
        MulticlassCalibrationError,
        MulticlassConfusionMatrix,
        MulticlassF1Score,
    )
    from torchmetrics.image import PeakSignalNoiseRatio, StructuralSimilarityIndexMeasure
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    several = MetricCollection(
        [
            MulticlassAccuracy(4),
            MulticlassAUROC(4),
            MulticlassAveragePrecision(4),
            MulticlassF1Score(4),
            MulticlassConfusionMatrix(4),
            MulticlassCalibrationError(4),
        ]
    ).to(MPS)
    several.update(torch.randn(32, 4, device=MPS).softmax(1), torch.arange(32, device=MPS) % 4)
    several.compute()
    for metric in (SpearmanCorrCoef(), PearsonCorrCoef()):
        metric.to(MPS)(torch.randn(32, device=MPS), torch.randn(32, device=MPS))
    for metric in (PeakSignalNoiseRatio(data_range=1.0), StructuralSimilarityIndexMeasure(data_range=1.0)):
        metric.to(MPS)(torch.rand(2, 3, 32, 32, device=MPS), torch.rand(2, 3, 32, 32, device=MPS))
    RetrievalNormalizedDCG().to(MPS)(
        torch.rand(8, device=MPS),
        torch.arange(8, device=MPS) % 2 == 0,
        indexes=torch.zeros(8, dtype=torch.long, device=MPS),
    )
    MeanMetric().to(MPS)(1.0)


def gpytorch() -> None:
    """Fit and evaluate an exact Gaussian process."""
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, inputs, targets, likelihood):
            super().__init__(inputs, targets, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    inputs = torch.linspace(0, 1, 20, device=MPS)
    targets = torch.sin(6 * inputs)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(MPS)
    model = Model(inputs, targets, likelihood).to(MPS)
    loss = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    step(model, -loss(model(inputs), targets))
    model.eval(), likelihood.eval()
    with torch.no_grad():
        likelihood(model(inputs)).confidence_region()


def pyro() -> None:
    """Take one step of variational inference."""
    import pyro
    from pyro import distributions
    from pyro.infer import SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoMultivariateNormal

    inputs, targets = torch.randn(20, 3, device=MPS), torch.randn(20, device=MPS)

    def model():
        weights = pyro.sample("weights", distributions.Normal(torch.zeros(3, device=MPS), 1.0).to_event(1))
        scale = pyro.sample(
            "scale", distributions.Gamma(torch.tensor(2.0, device=MPS), torch.tensor(2.0, device=MPS))
        )
        with pyro.plate("data", 20):
            pyro.sample("seen", distributions.Normal(inputs @ weights, scale), obs=targets)

    inference = SVI(model, AutoMultivariateNormal(model), pyro.optim.Adam({"lr": 0.01}), Trace_ELBO())
    inference.step()


def stable_baselines3() -> None:
    """Learn some steps with PPO, DQN and SAC."""
    from stable_baselines3 import DQN, PPO, SAC

    PPO("MlpPolicy", "CartPole-v1", n_steps=32, batch_size=16, device="mps").learn(64)
    DQN("MlpPolicy", "CartPole-v1", learning_starts=16, batch_size=8, device="mps").learn(32)
    SAC("MlpPolicy", "Pendulum-v1", learning_starts=8, batch_size=8, device="mps").learn(16)


def monai() -> None:
    """Train a 3-D U-Net one step, infer by a sliding window, and transform a volume."""
    from monai.inferers import sliding_window_inference
    from monai.losses import DiceCELoss
    from monai.networks.nets import UNet
    from monai.transforms import RandAffine

    network = UNet(3, 1, 2, channels=(4, 8, 16), strides=(2, 2)).to(MPS)
    volume = torch.rand(1, 1, 16, 16, 16, device=MPS)
    labels = (volume > 0.5).long()
    step(network, DiceCELoss(to_onehot_y=True, softmax=True)(network(volume), labels))
    with torch.no_grad():
        sliding_window_inference(torch.rand(1, 1, 24, 24, 24, device=MPS), (16, 16, 16), 2, network)
    RandAffine(prob=1.0, rotate_range=0.3, device=MPS)(volume[0])


def segmentation_models() -> None:
    """Train four networks of segmentation one step."""
    import segmentation_models_pytorch as smp

    for name in ("Unet", "DeepLabV3Plus", "FPN", "PSPNet"):
        network = getattr(smp, name)("resnet18", encoder_weights=None, classes=3).to(MPS)
        scores = network(torch.randn(2, 3, 64, 64, device=MPS))
        step(network, smp.losses.DiceLoss("multiclass")(scores, torch.randint(0, 3, (2, 64, 64), device=MPS)))


def open_clip() -> None:
    """Train CLIP one step."""
    import open_clip

    settings = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16},
        "text_cfg": {"context_length": 16, "vocab_size": 100, "width": 32, "heads": 2, "layers": 2},
    }
    network = open_clip.CLIP(**settings).to(MPS)
    features = network(torch.randn(4, 3, 32, 32, device=MPS), torch.randint(0, 100, (4, 16), device=MPS))
    step(network, open_clip.ClipLoss()(*features[:3]))


def x_transformers() -> None:
    """Train a decoder one step, then generate."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    network = AutoregressiveWrapper(
        TransformerWrapper(
            num_tokens=32,
            max_seq_len=32,
            attn_layers=Decoder(dim=32, depth=2, heads=2, rotary_pos_emb=True, attn_flash=True),
        )
    ).to(MPS)
    step(network, network(torch.randint(0, 32, (2, 17), device=MPS)))
    network.generate(torch.zeros(1, 1, dtype=torch.long, device=MPS), 6)


def vector_quantize() -> None:
    """Quantize with four layers, and compute the gradients of two."""
    from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

    hidden = torch.randn(1, 64, 16, device=MPS, requires_grad=True)
    for layer in (
        VectorQuantize(16, 8, kmeans_init=True),
        ResidualVQ(dim=16, num_quantizers=2, codebook_size=8),
    ):
        quantized, _, loss = layer.to(MPS)(hidden)
        (quantized.sum() + loss.sum()).backward()
    FSQ(levels=[8, 5, 5], dim=16).to(MPS)(hidden)
    LFQ(codebook_size=16, dim=16).to(MPS)(hidden)


def skorch() -> None:
    """Fit a classifier and predict."""
    import numpy
    from skorch import NeuralNetClassifier

    network = NeuralNetClassifier(
        nn.Sequential(nn.Linear(4, 3)), criterion=nn.CrossEntropyLoss, max_epochs=2, device="mps", verbose=0
    )
    network.fit(numpy.random.randn(40, 4).astype("float32"), numpy.arange(40) % 3)
    network.predict_proba(numpy.random.randn(4, 4).astype("float32"))


def metric_learning() -> None:
    """Compute five losses with a miner, and their gradients."""
    from pytorch_metric_learning import losses, miners

    points, labels = torch.randn(16, 8, device=MPS, requires_grad=True), torch.arange(16, device=MPS) % 4
    for loss in (
        losses.TripletMarginLoss(),
        losses.NTXentLoss(),
        losses.MultiSimilarityLoss(),
        losses.ArcFaceLoss(4, 8).to(MPS),
        losses.CircleLoss(),
    ):
        loss(points, labels, miners.MultiSimilarityMiner()(points, labels)).backward()


def lightly() -> None:
    """Compute five losses of self-supervised learning, and their gradients."""
    from lightly.loss import BarlowTwinsLoss, DINOLoss, NTXentLoss, SwaVLoss, VICRegLoss

    first, second = (torch.randn(8, 32, device=MPS, requires_grad=True) for _ in range(2))
    for loss in (NTXentLoss(memory_bank_size=(16, 32)), BarlowTwinsLoss(), VICRegLoss()):
        loss.to(MPS)(first, second).backward()
    SwaVLoss()([first, second], [first]).backward()
    DINOLoss(output_dim=32).to(MPS)([first.detach(), second.detach()], [first, second], epoch=0).backward()


def captum() -> None:
    """Attribute the result of a network by five methods."""
    from captum.attr import DeepLift, GradientShap, IntegratedGradients, LayerGradCam, Occlusion

    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)).to(MPS)
    images = torch.randn(2, 1, 8, 8, device=MPS)
    for method in (IntegratedGradients(network), DeepLift(network)):
        method.attribute(images, target=1)
    GradientShap(network).attribute(images, baselines=torch.zeros_like(images), target=1)
    LayerGradCam(network, network[0]).attribute(images, target=1)
    Occlusion(network).attribute(images, target=1, sliding_window_shapes=(1, 4, 4))


def torchvision() -> None:
    """Train a detector one step."""
    from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

    network = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3).to(
        MPS
    )
    boxes = {
        "boxes": torch.tensor([[4.0, 4.0, 40.0, 40.0]], device=MPS),
        "labels": torch.tensor([1], device=MPS),
    }
    sum(network([torch.rand(3, 64, 64, device=MPS)], [boxes]).values()).backward()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
