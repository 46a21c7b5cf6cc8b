"""The data of a run: the chosen set, with fewer training images or wrong labels where that was asked."""

import torch

from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import ImageData
from examples.cifar_optimizers.options import Options
from examples.cifar_optimizers.training_labels import keep_fraction, redraw_labels
from snippets.framework.training_setup import check_batch_size


def load_for_training(options: Options) -> ImageData:
    """Return the data with the wanted fraction of training images, then the wanted share of wrong labels.

    The held-out images and labels stay as they are. Raises UsageError.
    """
    check = not options.skip_checksum
    data = load_data(options.data, options.image_size, download=options.download, check=check)
    generator = torch.Generator().manual_seed(options.seed)
    if options.data_fraction < 1:
        kept = keep_fraction(data.train_labels, options.data_fraction, generator)
        data.train_images, data.train_labels = data.train_images[kept], data.train_labels[kept]
    data.train_labels = redraw_labels(data.train_labels, options.label_noise, data.classes, generator)
    check_batch_size(options, len(data.train_labels), "training images")
    return data
