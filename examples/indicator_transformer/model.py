"""A transformer over a set of indicators: each token is an indicator with its current reading."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

CONTEXT_HIDDEN = 128
FAR = 10.0  # readings are clipped at this distance from the mean, in standard deviations


# --8<-- [start:sizes]
@dataclass(frozen=True)
class Size:
    """The dimensions of a network."""

    width: int
    layers: int
    heads: int
    dropout: float


SIZES = {
    "small": Size(32, 2, 4, 0.0),  # learns in seconds on a CPU
    "origin": Size(256, 6, 8, 0.1),  # 4,894,082 parameters with 111 indicators, as published
    "medium": Size(512, 12, 8, 0.1),  # 38 million
    "large": Size(1024, 12, 16, 0.1),  # 153 million
}
# --8<-- [end:sizes]


# --8<-- [start:layer]
class Layer(nn.Module):
    """LN(x + attention(x)), then x + LN(MLP(x)): the second norm comes before the addition."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads, self.dropout = size.heads, size.dropout
        self.queries_keys_values = nn.Linear(size.width, 3 * size.width)
        self.merge = nn.Linear(size.width, size.width)
        self.attention_norm = nn.LayerNorm(size.width)
        self.mlp = nn.Sequential(
            nn.Linear(size.width, 4 * size.width),
            nn.GELU(),
            nn.Dropout(size.dropout),
            nn.Linear(4 * size.width, size.width),
            nn.Dropout(size.dropout),
        )
        self.mlp_norm = nn.LayerNorm(size.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's output for tokens `x`; both are (batch, indicators, width)."""
        x = self.attention_norm(x + self.attention(x))
        return x + self.mlp_norm(self.mlp(x))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        """Return the attention output of each token, without mask or positions, since a set has no order."""
        batch, tokens, width = x.shape
        parts = self.queries_keys_values(x).view(batch, tokens, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # each (batch, heads, tokens, width // heads)
        dropout = self.dropout if self.training else 0.0
        gathered = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout)
        return self.merge(gathered.transpose(1, 2).reshape(batch, tokens, width))


# --8<-- [end:layer]
# --8<-- [start:model]
class IndicatorTransformer(nn.Module):
    """Predicts for each indicator the probability that it is useful now, and its weight."""

    def __init__(self, indicators: int, context: int, size: Size) -> None:
        """Make a network for so many indicators and context features; its normaliser is the identity."""
        super().__init__()
        width = size.width
        self.identity = nn.Embedding(indicators, width)
        self.value = nn.Linear(1, width)
        self.context = nn.Sequential(
            nn.Linear(context, CONTEXT_HIDDEN),
            nn.GELU(),
            nn.Linear(CONTEXT_HIDDEN, width),
            nn.LayerNorm(width),
        )
        # The published network has such a table but never reads it; it keeps the number of parameters equal.
        self.unused_positions = nn.Embedding(100, width).requires_grad_(False)
        self.layers = nn.Sequential(*(Layer(size) for _ in range(size.layers)))
        self.selector, self.weighter = head(width), head(width)
        for name, count in (("value", indicators), ("context", context)):
            self.register_buffer(f"{name}_mean", torch.zeros(count))
            self.register_buffer(f"{name}_std", torch.ones(count))

    def forward(self, values: torch.Tensor, context: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits of "useful now" and weights, both (batch, indicators) in float32; weights sum to 1.

        `values` (batch, indicators) and `context` (batch, features) are raw readings, which the network
        normalises itself.
        """
        values = ((values - self.value_mean) / self.value_std).clamp(-FAR, FAR)
        context = ((context - self.context_mean) / self.context_std).clamp(-FAR, FAR)
        tokens = self.identity.weight + self.value(values.unsqueeze(2)) + self.context(context).unsqueeze(1)
        tokens = self.layers(tokens)
        logits, weights = (part(tokens).squeeze(2).float() for part in (self.selector, self.weighter))
        return logits, F.normalize(F.softplus(weights), p=1, dim=1)

    # --8<-- [end:model]
    # --8<-- [start:normaliser]
    def fit_normaliser(self, values: torch.Tensor, context: torch.Tensor) -> None:
        """Store mean and standard deviation of training readings (n, indicators) and (n, features).

        They are buffers, so every checkpoint contains them. Constant readings are not scaled.
        """
        for name, readings in (("value", values), ("context", context)):
            std, mean = torch.std_mean(readings, dim=0, correction=0)  # defined for one sample
            getattr(self, f"{name}_mean").copy_(mean)
            getattr(self, f"{name}_std").copy_(std.where(std > 0, 1.0))

    # --8<-- [end:normaliser]


def head(width: int) -> nn.Sequential:
    """Return a small network that maps a token (…, width) to one number (…, 1)."""
    return nn.Sequential(nn.Linear(width, width // 2), nn.GELU(), nn.Linear(width // 2, 1))


def parameter_count(model: nn.Module) -> int:
    """Return the number of trainable weights."""
    return sum(parameter.numel() for parameter in model.parameters())
