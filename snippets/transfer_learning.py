"""Train a new last layer on top of torchvision's ResNet-18, which has learned from ImageNet."""

# --8<-- [start:transfer_learning]
import torch
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, models

device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
photos = datasets.ImageFolder("my_pictures", models.ResNet18_Weights.DEFAULT.transforms())
learned, held_out = random_split(photos, [0.8, 0.2])
model = models.resnet18(weights="DEFAULT").requires_grad_(False).eval()
model.fc = torch.nn.Linear(512, len(photos.classes))
optimizer = torch.optim.AdamW(model.to(device).fc.parameters())
for images, labels in (batch for epoch in range(10) for batch in DataLoader(learned, 32, shuffle=True)):
    torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    optimizer.zero_grad()

right = sum(int(model(image[None].to(device)).argmax()) == label for image, label in held_out)
print(f"{right} of {len(held_out)} held-out pictures right")
# --8<-- [end:transfer_learning]
