"""Plain PyTorch in place of CUDA packages: same values and gradients; the packages only on their devices."""

import math

import pytest
import torch

from snippets import optional_kernels
from snippets.selective_scan import selective_scan_reference
from tests.recipe_runs import RECIPES, run_recipe

HERE = ("cpu", "mps")  # devices that a test pretends to be those of the kernels


def tensors(*shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).to(dtype).requires_grad_() for shape in shapes]


def attention_by_hand(q, k, v, causal):
    scores = torch.einsum("blhd,bmhd->bhlm", q, k) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return torch.einsum("bhlm,bmhd->blhd", scores.softmax(-1), v)


def agree(found, expected, inputs):
    torch.testing.assert_close(found, expected)
    weights = torch.linspace(-1, 1, found.numel()).view(found.shape).to(found.dtype)
    gradients = [torch.autograd.grad((y * weights).sum(), inputs) for y in (found, expected)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_without_the_package_is_attention(causal):
    q, k, v = tensors(*[(2, 5, 3, 4)] * 3)
    agree(optional_kernels.attention(q, k, v, causal), attention_by_hand(q, k, v, causal), [q, k, v])


def test_scan_without_the_package_is_the_scan():
    x, dt, A, B, C, D = inputs = tensors((2, 7, 3), (2, 7, 3), (3, 4), (2, 7, 4), (2, 7, 4), (3,))
    agree(optional_kernels.scan(*inputs), selective_scan_reference(x, dt, A, B, C, D), inputs)


def test_packages_get_their_layout_and_agree(monkeypatch):
    called = []

    def flash(q, k, v, causal):
        called.append("flash_attn")
        return attention_by_hand(q.float(), k.float(), v.float(), causal).to(q.dtype)

    def mamba(u, delta, A, B, C, D):
        called.append("mamba_ssm")
        return selective_scan_reference(u.mT, delta.mT, A, B.mT, C.mT, D).mT

    qkv = tensors(*[(2, 5, 3, 4)] * 3, dtype=torch.bfloat16)
    inputs = tensors((2, 7, 3), (2, 7, 3), (3, 4), (2, 7, 4), (2, 7, 4), (3,))
    plain = optional_kernels.attention(*qkv, True), optional_kernels.scan(*inputs)
    monkeypatch.setattr(optional_kernels, "flash_attn_func", flash)
    monkeypatch.setattr(optional_kernels, "selective_scan_fn", mamba)
    optional_kernels.attention(*qkv, True), optional_kernels.scan(*inputs)
    assert called == []  # installed, but this is not a device of theirs
    monkeypatch.setattr(optional_kernels, "KERNEL_DEVICES", HERE)
    kernels = optional_kernels.attention(*qkv, True), optional_kernels.scan(*inputs)
    assert called == ["flash_attn", "mamba_ssm"]
    torch.testing.assert_close(kernels[0], plain[0], atol=2e-2, rtol=2e-2)
    torch.testing.assert_close(kernels[1], plain[1])


def test_float32_never_reaches_flash_attn(monkeypatch):
    monkeypatch.setattr(optional_kernels, "KERNEL_DEVICES", HERE)
    monkeypatch.setattr(optional_kernels, "flash_attn_func", None)
    q, k, v = tensors(*[(1, 3, 2, 4)] * 3)
    expected = optional_kernels.attention(q, k, v)
    monkeypatch.setattr(optional_kernels, "flash_attn_func", lambda *_, causal: pytest.fail("was called"))
    torch.testing.assert_close(optional_kernels.attention(q, k, v), expected)


def test_causal_convolution_sees_no_later_step():
    x, weight, bias = inputs = tensors((2, 3, 6), (3, 4), (3,))
    by_hand = torch.stack(
        [
            sum(weight[:, 3 - back] * x[:, :, t - back] for back in range(4) if back <= t) + bias
            for t in range(6)
        ],
        dim=-1,
    )
    agree(optional_kernels.causal_conv1d(x, weight, bias), by_hand, inputs)


def test_sums_of_groups_and_zero_for_an_empty_one():
    (source,) = tensors((5, 2))
    index = torch.tensor([2, 0, 2, 2, 0])
    expected = torch.stack([source[[1, 4]].sum(0), torch.zeros(2), source[[0, 2, 3]].sum(0)])
    agree(optional_kernels.scatter_sum(source, index, 3), expected, [source])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("torch>=2.13\nnumpy\n", []),
        ("Flash_Attn == 2.8.3 ; sys_platform == 'linux'\n", ["flash-attn"]),
        ("# triton\ntorch  # no apex\ntriton-viz\n", []),
        (
            "dependencies:\n  - pip:\n    - mamba_ssm[causal-conv1d]>=2\n    - xformers\n",
            ["xformers", "mamba-ssm"],
        ),
        ("deepspeed @ https://example.org/deepspeed.tar.gz\n", ["deepspeed"]),
    ],
)
def test_recipe_finds_packages_in_a_requirements_file(tmp_path, text, found):
    (tmp_path / "requirements.txt").write_text(text, encoding="utf-8")
    printed, _ = run_recipe(RECIPES["cuda_only_packages"], tmp_path)
    assert [line.partition(":")[0] for line in printed.splitlines()] == found
