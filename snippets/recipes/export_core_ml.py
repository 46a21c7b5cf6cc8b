"""Convert a network to Core ML, for an app on an iPhone or a Mac."""

# --8<-- [start:recipe]
import coremltools as ct
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
parts = torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(7200, 2)
model = torch.nn.Sequential(*parts).to(device)  # take your trained network instead
model = model.cpu().eval()
example = torch.rand(1, 3, 32, 32)  # what it will get: one picture of 32 x 32 pixels

program = torch.export.export(model, (example,)).run_decompositions()
takes, gives = ct.TensorType("picture", example.shape), ct.TensorType("scores")
package = ct.convert(program, inputs=[takes], outputs=[gives])
package.save("net.mlpackage")
print("from", *package.input_description, "to", *package.output_description)
# --8<-- [end:recipe]
