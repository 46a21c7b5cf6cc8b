"""A loss on spectra: complex numbers on MPS, and zeros beyond the ends of the sound."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
seconds = torch.arange(32_000, device=device) / 16_000
tone = torch.sin(2 * torch.pi * 440 * seconds)
guess = (0.5 * tone).requires_grad_()
window = torch.hann_window(512, device=device)

spectra = [
    torch.stft(wave, 512, window=window, pad_mode="constant", return_complex=True).abs()
    for wave in (guess, tone)
]
(spectra[0] - spectra[1]).abs().mean().backward()
print("loudest:", spectra[1].mean(1).argmax().item() * 16_000 / 512, "Hz")
print("gradient is finite:", guess.grad.isfinite().all().item())
# --8<-- [end:recipe]
