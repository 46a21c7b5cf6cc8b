"""Arguments that kernels of the real device refuse, with its texts, and their neighbours that it takes."""

from functools import partial

import pytest
import torch
from simulated_mps import SimulationError, device, processes, report
from torch import nn
from torch.nn import functional as F

MPS = torch.device("mps")
SHRINKS = "Adaptive pool MPS: input sizes must be divisible by output sizes"
GROWS = "Adaptive pool MPS: output sizes must be divisible by input sizes"
BOTH_WAYS = "Adaptive pool MPS: Input height and width must both be greater than"
FLOATS_ONLY = "Convolution is supported only for Floating types"


def ones(*shape, dtype=torch.float32):
    """Return ones on the device."""
    return torch.ones(*shape, dtype=dtype, device=MPS)


@pytest.fixture
def as_release():
    """Return what chooses a release; the own one comes back afterwards."""
    yield device.enable
    device.enable(None)


def refused(text, call, error=RuntimeError):
    """Assert that `call` raises exactly `error`, with a message that begins with `text`."""
    with pytest.raises(error) as caught:
        call()
    assert caught.type is error
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("release", ["2.9", "2.13", "2.15"])
def test_average_pooling_wants_sizes_that_divide(as_release, release):
    as_release(release)
    image = ones(1, 1, 7, 7)
    refused(SHRINKS, lambda: F.adaptive_avg_pool2d(image, 3))
    refused(SHRINKS, lambda: F.adaptive_avg_pool1d(image[0], 3))
    refused(SHRINKS, lambda: F.interpolate(image, size=3, mode="area"))
    refused(SHRINKS, lambda: torch.ops.aten.adaptive_avg_pool2d.out(image, [3, 3], out=ones(1, 1, 3, 3)))
    refused(GROWS, lambda: F.adaptive_avg_pool2d(ones(1, 1, 2, 2), 7))
    refused(BOTH_WAYS, lambda: F.adaptive_avg_pool2d(ones(1, 1, 2, 8), 4))
    assert F.adaptive_avg_pool2d(image, 7).shape == (1, 1, 7, 7)
    assert F.adaptive_avg_pool2d(image, 1).item() == 1
    assert F.adaptive_avg_pool2d(ones(1, 1, 8, 6), (4, 3)).shape == (1, 1, 4, 3)
    assert F.adaptive_avg_pool2d(ones(1, 1, 2, 2), 6).shape == (1, 1, 6, 6)
    assert F.interpolate(ones(1, 1, 8, 8), scale_factor=0.5, mode="area").shape == (1, 1, 4, 4)


def test_maxima_with_wrong_values_are_told(as_release):
    event = "wrong values"
    as_release("2.13")
    before = report().events.get(event, 0)
    for size, target in (((7, 7), 3), ((2, 2), 4)):
        with pytest.warns(UserWarning, match="MPS computes wrong values"):
            assert F.adaptive_max_pool2d(ones(1, 1, *size), target).shape == (1, 1, target, target)
    assert report().events[event] == before + 2
    F.adaptive_max_pool2d(ones(1, 1, 8, 8), 4)
    refused(BOTH_WAYS, lambda: F.adaptive_max_pool2d(ones(1, 1, 2, 8), 4))
    as_release("2.14")
    assert F.adaptive_max_pool2d(ones(1, 1, 2, 8), 4).shape == (1, 1, 4, 4)
    F.adaptive_max_pool2d(ones(1, 1, 7, 7), 3)
    assert report().events[event] == before + 2


@pytest.mark.parametrize(
    ("release", "error", "text"),
    [
        (
            "2.12",
            TypeError,
            "Trying to convert Float8_e4m3fn to the MPS backend but it does not have support",
        ),
        ("2.13", RuntimeError, "Undefined type Float8_e4m3fn"),
    ],
)
def test_eight_bit_floats_are_kept_but_not_converted(as_release, release, error, text):
    as_release(release)
    small = torch.ones(2).to(torch.float8_e4m3fn)
    on_device = small.to(MPS)
    assert on_device.cpu().float().tolist() == [1, 1]
    assert small.to(MPS, torch.float16).tolist() == [1, 1]
    for convert in (
        lambda: ones(2).to(torch.float8_e4m3fn),
        lambda: on_device.to(torch.float16),
        lambda: on_device.to("cpu", torch.float32),
    ):
        refused(text, convert, error)


@pytest.mark.parametrize(
    ("key", "mask"),
    [
        (torch.ones(1, 1, 4, 8).half(), None),
        (torch.ones(1, 1, 4, 8), torch.zeros(4, 4).half()),
        (torch.ones(8), None),
    ],
)
def test_attention_is_checked_as_on_the_cpu(key, mask):
    query = torch.ones(1, 1, 4, 8)
    texts = []
    for place in (torch.device("cpu"), MPS):
        on_place = None if mask is None else mask.to(place)
        with pytest.raises(RuntimeError) as caught:
            F.scaled_dot_product_attention(
                query.to(place), key.to(place), query.to(place), attn_mask=on_place
            )
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_attention_accepts_bool_float32_and_own_type_masks():
    query = ones(1, 1, 4, 8, dtype=torch.float16)
    for dtype in (torch.bool, torch.float32, torch.float16):
        mask = ones(4, 4, dtype=dtype)
        assert F.scaled_dot_product_attention(query, query, query, attn_mask=mask).dtype == torch.float16


def test_attention_drops_only_where_a_gradient_is_wanted(as_release):
    text, query = "scaled_dot_product_attention for MPS does not support dropout.", ones(1, 1, 4, 8)

    def attend():
        return F.scaled_dot_product_attention(query, query, query, dropout_p=0.5)

    for release in ("2.13", "2.15"):
        as_release(release)
        refused(text, attend, NotImplementedError)
    as_release("2.12")
    assert attend().shape == query.shape
    as_release("2.15")
    query.requires_grad_()
    assert attend().requires_grad
    with torch.no_grad():
        refused(text, attend, NotImplementedError)


def test_linear_layers_want_floats():
    numbers = ones(2, 3, dtype=torch.int32)
    refused("MPS device does not support linear for non-float inputs", lambda: F.linear(numbers, numbers))
    refused("MPS device does not support linear for non-float weights", lambda: F.linear(ones(2, 3), numbers))
    with torch.inference_mode():
        refused("MPS device does not support linear for non-float inputs", lambda: F.linear(numbers, numbers))
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.complex64):
        assert F.linear(ones(2, 3, dtype=dtype), ones(4, 3, dtype=dtype)).shape == (2, 4)


def test_lstm_has_no_projections():
    with_projection = nn.LSTM(4, 8, proj_size=3).to(MPS)
    refused("LSTM with projections is not currently supported", lambda: with_projection(ones(5, 2, 4)))
    assert nn.LSTM(4, 8).to(MPS)(ones(5, 2, 4))[0].shape == (5, 2, 8)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_convolutions_want_floats(dimensions):
    plain, transposed = (getattr(F, f"{name}{dimensions}d") for name in ("conv", "conv_transpose"))
    image, kernel = (1, 1, *[4] * dimensions), (1, 1, *[2] * dimensions)
    for dtype in (torch.int64, torch.int32, torch.bool):
        numbers = ones(*image, dtype=dtype), ones(*kernel, dtype=dtype)
        refused(FLOATS_ONLY, partial(plain, *numbers))
        refused(FLOATS_ONLY, partial(transposed, *numbers))
    for dtype in (torch.float16, torch.bfloat16):
        halves = ones(*image, dtype=dtype), ones(*kernel, dtype=dtype)
        assert plain(*halves).dtype == dtype
        if dimensions == 3:
            refused("ConvTranspose 3D with BF16 or FP16 types", partial(transposed, *halves))
        else:
            assert transposed(*halves).dtype == dtype


def test_new_tensors_have_at_most_16_dimensions():
    text = "MPS supports tensors with dimensions <= 16, but got 17."
    refused(text, lambda: torch.zeros([1] * 17, device=MPS))
    refused(text, lambda: torch.zeros([1] * 17).to(MPS))
    view = ones(1).view([1] * 17)
    refused(text, lambda: view + 1)
    assert (ones(1).view([1] * 16) + 1).item() == 2


INT64, COMPLEX = torch.int64, torch.complex64
ZERO = torch.zeros(1, dtype=INT64).to(MPS)
MISSING = "Failed to create function state object for: "
NO_COMPLEX_LU = "linalg.lu_factor(): MPS doesn't support complex types."
identity = torch.eye(2, dtype=COMPLEX).to(MPS)
COLUMNS = ones(1, 4, 1, dtype=COMPLEX)
BYTES = torch.ones(1, 3, 4, 4, dtype=torch.uint8).to(MPS)
REFUSALS = [  # release, text, call
    (
        "2.12",
        "index_reduce for MPS does not support torch.long dtype",
        lambda: ones(3, dtype=INT64).index_reduce(0, ones(1, dtype=INT64), ones(1, dtype=INT64), "prod"),
    ),
    (
        "2.9",
        "MPS device does not support addr for non-float input",
        lambda: torch.addr(ones(2, 2, dtype=INT64), ones(2, dtype=INT64), ones(2, dtype=INT64)),
    ),
    (
        "2.9",
        "MPS device does not support addr for non-float input",
        lambda: ones(2, 2, dtype=INT64).addr_(ones(2, dtype=INT64), ones(2, dtype=INT64)),
    ),
    (
        "2.12",
        "linalg_qr: MPS currently supports float32 only",
        lambda: torch.linalg.qr(ones(2, 2, dtype=COMPLEX)),
    ),
    (
        "2.14",
        "linalg.lu_factor(): MPS doesn't support complex types.",
        lambda: torch.linalg.lu_factor(torch.eye(2, dtype=COMPLEX).to(MPS)),
    ),
    (
        "2.15",
        "linalg.lu_factor(): MPS doesn't allow pivot == False.",
        lambda: torch.linalg.lu_factor(ones(2, 2), pivot=False),
    ),
    (
        "2.15",
        "linalg_inv: not supported for complex types yet!",
        lambda: torch.linalg.inv(torch.eye(2, dtype=COMPLEX).to(MPS)),
    ),
    (
        "2.11",
        "cholesky_inverse: MPS only supports float type!",
        lambda: torch.cholesky_inverse(torch.eye(2, dtype=COMPLEX).to(MPS)),
    ),
    (
        "2.10",
        "MPS device does not support addbmm or baddbmm for non-float inputs",
        lambda: torch.baddbmm(*(ones(1, 2, 2, dtype=INT64) for _ in range(3))),
    ),
    (
        "2.15",
        "_upsample_bicubic2d_aa_out_mps only supports floating-point dtypes",
        lambda: F.interpolate(BYTES, size=2, mode="bicubic", antialias=True),
    ),
    (
        "2.15",
        "_upsample_bilineard2d_aa_out_mps only supports floating-point dtypes",
        lambda: F.interpolate(BYTES, size=2, mode="bilinear", antialias=True),
    ),
    (
        "2.13",
        "Batch norm for complex is not supported for MPS",
        lambda: F.batch_norm(ones(2, 3, 4, dtype=COMPLEX), None, None, training=True),
    ),
    (
        "2.10",
        "grid_sampler_2d is not supported for complex on MPS",
        lambda: torch.grid_sampler_2d(
            ones(1, 1, 2, 2, dtype=COMPLEX), ones(1, 2, 2, 2, dtype=COMPLEX), 0, 0, True
        ),
    ),
    (
        "2.10",
        "huber_loss for complex is not supported for MPS",
        lambda: F.huber_loss(ones(2, dtype=COMPLEX), ones(2, dtype=COMPLEX)),
    ),
    ("2.13", "Mish for complex is not supported for MPS", lambda: F.mish(ones(2, dtype=COMPLEX))),
    (
        "2.15",
        "Failed to create function state object for: upsample_bicubic2d_uchar",
        lambda: F.interpolate(BYTES, size=2, mode="bicubic"),
    ),
    (
        "2.13",
        "Failed to create function state object for: scatter_prod_",
        lambda: ones(3, dtype=INT64).scatter_reduce(0, ones(1, dtype=INT64), ones(1, dtype=INT64), "prod"),
    ),
    ("2.15", "frac_out_mps is only implemented for floating types", ones(2, dtype=INT64).frac),
    (
        "2.15",
        "nextafter_mps not implemented for non-floating types",
        lambda: torch.nextafter(ones(2, dtype=INT64), ones(2, dtype=INT64)),
    ),
    ("2.15", MISSING + "abs_dense_bool_bool", ones(2, dtype=torch.bool).abs),
    ("2.13", "histogram is only supported for float32", lambda: torch.histogram(ones(2).half(), 2)),
    (
        "2.15",
        "logspace is not implemented for integral dtypes on MPS",
        lambda: torch.logspace(0, 2, 3, dtype=INT64, device=MPS),
    ),
    ("2.14", "MPS FFT only supports transforming up to 4 dimensions", lambda: torch.fft.fftn(ones(*[2] * 5))),
    *(
        (release, text, partial(call, identity))
        for release, text, call in [
            ("2.14", NO_COMPLEX_LU, torch.linalg.det),
            ("2.9", NO_COMPLEX_LU, torch.linalg.slogdet),
            ("2.14", NO_COMPLEX_LU, torch.linalg.lu),
            ("2.14", NO_COMPLEX_LU, lambda matrix: torch.linalg.solve(matrix, matrix)),
            (
                "2.13",
                "linalg.lu_factor(): MPS only supports floats.",
                lambda matrix: torch.linalg.solve(matrix, matrix),
            ),
            (
                "2.14",
                "linalg.solve.triangular(); Only float is supported!",
                lambda matrix: torch.linalg.solve_triangular(matrix, matrix, upper=True),
            ),
            (
                "2.10",
                "linalg.solve.triangular(); Only float is supported!",
                lambda matrix: torch.triangular_solve(matrix, matrix),
            ),
            ("2.11", "mps linear does not support complex types", lambda matrix: F.linear(matrix, matrix)),
            ("2.11", "cumulative ops are not yet supported for complex", lambda matrix: matrix.cumsum(0)),
            ("2.11", "repeat(): Not supported for complex yet!", lambda matrix: matrix.repeat(2, 1)),
            ("2.11", "index_fill_(): Complex types", lambda matrix: matrix.index_fill(0, ZERO, 1)),
            (
                "2.14",
                "value cannot be converted to type double",
                lambda matrix: torch.addmm(matrix, matrix, matrix, beta=1j),
            ),
            (
                "2.15",
                "value cannot be converted to type double",
                lambda matrix: torch.addr(matrix, matrix[0], matrix[0], alpha=1j),
            ),
            (
                "2.11",
                MISSING + "cross_float2",
                lambda matrix: torch.linalg.cross(ones(3, dtype=COMPLEX), ones(3, dtype=COMPLEX)),
            ),
            ("2.11", MISSING + "logcumsumexp_outer_float2", lambda matrix: matrix.logcumsumexp(0)),
            ("2.15", MISSING + "renorm_float2", lambda matrix: matrix.renorm(2, 0, 1)),
            ("2.15", MISSING + "erf_dense_float2_float2", torch.erf),
            ("2.14", "geqrf: MPS currently supports float32 only", torch.linalg.qr),
            ("2.12", MISSING + "silu_dense_float2_float2", F.silu),
            ("2.14", "relu is not supported for complex types", torch.relu),
            ("2.15", MISSING + "cat_int32_t_float_float2", lambda matrix: torch.cat([ones(2, 2), matrix])),
            ("2.12", MISSING + "col2im_kernel_float2", lambda _: F.fold(COLUMNS, 2, 2)),
            ("2.15", MISSING + "col2im_kernel_float2_u32", lambda _: F.fold(COLUMNS, 2, 2)),
            ("2.15", "Max pooling for complex is not", lambda matrix: F.max_pool2d(matrix[None, None], 2)),
            (
                "2.14",
                "upsample for MPS does not support complex inputs",
                lambda matrix: F.interpolate(matrix[None, None], size=4),
            ),
            ("2.11", "norm ops are not supported for complex yet", torch.linalg.vector_norm),
            (
                "2.11",
                "gather(): Yet not supported for complex",
                lambda matrix: matrix.gather(0, torch.zeros(1, 1, dtype=INT64, device=MPS)),
            ),
            (
                "2.11",
                "scatter(): Yet not supported for complex",
                lambda matrix: matrix.scatter(0, torch.zeros(1, 1, dtype=INT64, device=MPS), matrix),
            ),
            (
                "2.9",
                "scatter(): Yet not supported for complex",
                lambda matrix: matrix.scatter_add(0, torch.zeros(1, 1, dtype=INT64, device=MPS), matrix),
            ),
        ]
    ),
]


@pytest.mark.parametrize(
    ("release", "text", "call"), REFUSALS, ids=[f"{release} {text}" for release, text, _ in REFUSALS]
)
def test_types_are_refused(as_release, release, text, call):
    as_release(release)
    refused(text, call)


def test_the_same_operators_take_float32():
    assert ones(3).index_reduce(0, ones(1, dtype=INT64), ones(1), "prod").tolist() == [1, 1, 1]
    assert torch.addr(ones(2, 2), ones(2), ones(2)).tolist() == [[2, 2], [2, 2]]
    for dtype in (torch.float32, torch.int32):
        numbers = ones(3, dtype=dtype)
        assert numbers.scatter_reduce(0, ones(1, dtype=INT64), numbers[:1] * 2, "prod").tolist() == [1, 2, 1]
    assert ones(2, dtype=INT64).scatter_reduce(0, ones(1, dtype=INT64), ones(1, dtype=INT64), "amax")[0] == 1
    assert F.interpolate(BYTES, size=2, mode="bilinear").dtype == torch.uint8
    assert torch.linalg.qr(torch.eye(2, device=MPS)).R.abs().tolist() == [[1, 0], [0, 1]]
    assert torch.linalg.lu_factor(torch.eye(2, device=MPS)).LU.tolist() == [[1, 0], [0, 1]]


def test_what_a_later_release_lifted_holds_there_no_longer(as_release):
    numbers = ones(1, 2, 2, dtype=INT64)
    as_release("2.11")
    with pytest.warns(UserWarning, match="nonzero op is not supported for complex datatypes. Falling back"):
        assert identity.nonzero().shape == (2, 2)
    assert torch.baddbmm(numbers, numbers, numbers).tolist() == [[[3, 3], [3, 3]]]
    as_release("2.12")
    assert identity.nonzero().shape == (2, 2)
    assert torch.linalg.vector_norm(identity).item() == pytest.approx(2**0.5)
    assert F.linear(identity, identity).tolist() == [[1, 0], [0, 1]]
    assert torch.fft.fftn(ones(*[2] * 5)).shape == (2,) * 5
    as_release("2.15")
    assert F.silu(identity).dtype == COMPLEX
    assert torch.cat([identity, identity]).shape == (4, 2)
    assert torch.cat([ones(2), ones(2, dtype=torch.int32)]).shape == (4,)
    assert torch.fft.fftn(ones(*[2] * 5), dim=(0, 1, 2, 3)).shape == (2,) * 5
    assert torch.addmm(identity, identity, identity, beta=1j).dtype == COMPLEX
    assert torch.linalg.qr(identity).R.shape == (2, 2)
    assert torch.linalg.lu_factor(identity).LU.shape == (2, 2)
    assert torch.linalg.det(identity).item() == 1
    assert torch.linalg.solve_triangular(identity, identity, upper=True).shape == (2, 2)


@pytest.mark.parametrize("release", ["2.9", "2.10", "2.13", "2.15"])
def test_lu_solve_follows_the_table(as_release, release):
    as_release(release)
    identity = torch.eye(2, device=MPS)
    factors = torch.linalg.lu_factor(identity)
    if release == "2.9":
        with pytest.raises(NotImplementedError, match=r"aten::linalg_lu_solve\.out"):
            torch.linalg.lu_solve(*factors, identity)
    else:
        assert torch.linalg.lu_solve(*factors, identity).tolist() == [[1, 0], [0, 1]]


HALF = {
    "pooling": lambda x: F.avg_pool3d(x.reshape(1, 1, 2, 2, 2), 2),
    "distances": lambda x: torch.cdist(x, x),
    "in place": lambda x: x.erfinv_(),
    "special": lambda x: torch.special.bessel_j0(x),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", HALF)
def test_half_precision_that_the_cpu_lacks_is_computed(name, dtype):
    x = torch.arange(8).view(2, 4) / 8
    found = HALF[name](x.to(MPS, dtype))
    assert found.dtype == dtype
    torch.testing.assert_close(found.cpu(), HALF[name](x.clone()).to(dtype))


def test_integers_that_the_cpu_lacks_are_computed():
    numbers = torch.arange(4).to(MPS)
    assert torch.histc(numbers, 2).tolist() == [2, 2]
    assert torch.lerp(numbers, numbers + 2, 0.5).tolist() == [1, 2, 3, 4]
    assert (numbers > 0).dot(numbers > 2).dtype == torch.bool


def test_half_precision_becomes_complex():
    x = torch.ones(2, dtype=torch.float16)
    found = torch.polar(x.to(MPS), x.to(MPS))
    assert found.dtype == torch.complex32
    torch.testing.assert_close(
        torch.view_as_real(found.cpu()), torch.view_as_real(torch.polar(x.float(), x.float())).half()
    )


def test_types_that_both_lack_are_refused():
    with pytest.raises(
        NotImplementedError, match="simulated_mps: the CPU has no kernel for this type; MPS may"
    ):
        F.max_pool2d(ones(1, 2, 2, dtype=torch.bool), 2)


@pytest.fixture
def as_macos(monkeypatch):
    """Return what chooses a macOS; the newest comes back afterwards."""

    def choose(version):
        monkeypatch.setenv(processes.MACOS, version)
        device.enable(None)

    yield choose
    monkeypatch.delenv(processes.MACOS)
    device.enable(None)


@pytest.mark.parametrize(("version", "refuses"), [("14", True), ("15", True), ("15.1", False), ("26", False)])
def test_long_convolutions_want_macos_15_1(as_macos, version, refuses):
    as_macos(version)
    text, long = "Output channels > 65536 not supported at the MPS device. ", ones(1, 1, 65538)
    calls = {
        "conv": lambda: F.conv1d(long, ones(1, 1, 2)),
        "transposed": lambda: F.conv_transpose1d(long[..., :-2], ones(1, 1, 2)),
        "channels": lambda: F.conv1d(ones(1, 1, 1), ones(65537, 1, 1)),
    }
    for call in calls.values():
        if refuses:
            refused(text, call, NotImplementedError)
        else:
            call()
    assert F.conv1d(long[..., :-1], ones(1, 1, 2)).shape == (1, 1, 65536)
    assert torch.backends.mps.is_macos_or_newer(15, 1) != refuses


@pytest.mark.parametrize(("version", "refuses"), [("14.7", True), ("15.0", False)])
def test_matrix_exponentials_want_macos_15(as_macos, version, refuses):
    as_macos(version)
    device.enable("2.15")
    matrix = torch.eye(2, device=MPS)
    if refuses:
        refused("linalg.matrix_exp on MPS requires macOS 15.0 or newer", lambda: torch.matrix_exp(matrix))
    else:
        assert torch.matrix_exp(matrix).shape == (2, 2)


def test_a_macos_is_named_by_its_number(as_macos):
    with pytest.raises(SimulationError, match="SIMULATED_MPS_MACOS=Sonoma: a version of macOS is such as 14"):
        as_macos("Sonoma")
