"""Write a network as ONNX, and compare what ONNX Runtime computes with PyTorch."""

# --8<-- [start:recipe]
import onnxruntime
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 2)).to(device)
model = model.cpu().eval()
pictures = torch.rand(5, 3, 32, 32)

free = {"dynamic_shapes": ({0: torch.export.Dim("batch")},), "external_data": False}
names = {"input_names": ["pictures"], "output_names": ["scores"]}
torch.onnx.export(model, (pictures,), "net.onnx", verbose=False, **names, **free)
session = onnxruntime.InferenceSession("net.onnx", providers=["CPUExecutionProvider"])
for count in 1, 5:
    scores = session.run(["scores"], {"pictures": pictures[:count].numpy()})[0]
    torch.testing.assert_close(torch.from_numpy(scores), model(pictures[:count]))
    print("same scores as PyTorch for a batch of", count)
# --8<-- [end:recipe]
