// Which arguments the real device's kernels refuse, by operator and release. Every text stands in libtorch_cpu.dylib
// of the macOS wheels of its releases; which function holds it, and mostly on what condition, was read in the machine
// code there. The list is what is known to us, not all there is.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

#include "arguments.h"
#include "record.h"

namespace simulated_mps {

enum class Outcome { error, wrong_values };

struct Rule {
  const char* op;
  int since, until;  // releases by their second number: 9 is 2.9
  bool (*applies)(const Arguments&);
  const char* text;
  Outcome outcome = Outcome::error;
};

// ---- Conditions -----------------------------------------------------------------------------------------------------

inline bool is_float(c10::ScalarType type) {
  return type == c10::kFloat || type == c10::kHalf || type == c10::kBFloat16 || type == c10::kComplexFloat ||
      type == c10::kComplexHalf;
}

struct Pooling {  // of images from in[0] × in[1] to out[0] × out[1]
  int64_t in[2], out[2];

  explicit Pooling(const Arguments& arguments) {
    const auto& self = arguments.tensor("self");
    const auto sizes = arguments["output_size"].toSymIntVector();
    for (int i = 0; i < 2; ++i) {
      in[i] = self.dim() > 1 ? self.size(i - 2) : 0;
      out[i] = sizes[i].expect_int();
    }
  }
  bool is_empty() const { return in[0] * in[1] * out[0] * out[1] == 0; }
  bool shrinks() const { return in[0] >= out[0] && in[1] >= out[1]; }
  bool grows() const { return in[0] <= out[0] && in[1] <= out[1]; }
};

inline bool grows_and_shrinks(const Arguments& arguments) {
  const Pooling pooling(arguments);
  return !pooling.is_empty() && !pooling.shrinks() && !pooling.grows();
}

inline bool shrinks_unevenly(const Arguments& arguments) {
  const Pooling p(arguments);
  return !p.is_empty() && p.shrinks() && (p.in[0] % p.out[0] != 0 || p.in[1] % p.out[1] != 0);
}

inline bool grows_unevenly(const Arguments& arguments) {
  const Pooling p(arguments);
  return !p.is_empty() && !p.shrinks() && p.grows() && (p.out[0] % p.in[0] != 0 || p.out[1] % p.in[1] != 0);
}

inline bool is_wrong_maximum(const Arguments& arguments) {
  const Pooling p(arguments);
  return !p.is_empty() && (p.shrinks() ? shrinks_unevenly(arguments) : p.grows());
}

inline bool is_no_floating_image(const Arguments& arguments) { return !c10::isFloatingType(arguments.type("self")); }

inline bool is_complex(const Arguments& arguments) { return c10::isComplexType(arguments.type("self")); }

inline bool is_complex_matrix(const Arguments& arguments) { return c10::isComplexType(arguments.type("A")); }

inline bool multiplies_int64(const Arguments& arguments) {
  return arguments.type("self") == c10::kLong && arguments["reduce"].toStringRef() == "prod";
}

// ---- Texts ----------------------------------------------------------------------------------------------------------

constexpr const char* kPoolBothWays =
    "Adaptive pool MPS: Input height and width must both be greater than, or equal to, or lesser than output height "
    "and width";
constexpr const char* kPoolShrinks =
    "Adaptive pool MPS: input sizes must be divisible by output sizes. Non-divisible input sizes are not implemented "
    "on MPS device yet. For now, you can manually transfer tensor to cpu in this case. Please refer to [this issue]"
    "(https://github.com/pytorch/pytorch/issues/96056)";
constexpr const char* kPoolGrows =
    "Adaptive pool MPS: output sizes must be divisible by input sizes. Non-divisible input sizes are not implemented "
    "on MPS device yet. For now, you can manually transfer tensor to cpu in this case. Please refer to [this issue]"
    "(https://github.com/pytorch/pytorch/issues/96056)";
constexpr const char* kWrongMaximum =
    "adaptive_max_pool2d to a larger size, or to one that does not divide: up to PyTorch 2.13, MPS computes wrong "
    "values (https://github.com/pytorch/pytorch/issues/190064)";

constexpr const char* kNoComplexLu = "linalg.lu_factor(): MPS doesn't support complex types.";
constexpr const char* kNoComplexTriangle = "linalg.solve.triangular(); Only float is supported!";
constexpr const char* kNoComplexScatter = "scatter(): Yet not supported for complex";

// ---- Rules, in the order in which the device asks -------------------------------------------------------------------

constexpr int kFirst = 9, kLatest = 15;  // of the releases in kernels.json

using A = Arguments;
inline const std::vector<Rule> rules{
    {"aten::_adaptive_avg_pool2d", kFirst, kLatest, grows_and_shrinks, kPoolBothWays},
    {"aten::_adaptive_avg_pool2d", kFirst, kLatest, shrinks_unevenly, kPoolShrinks},
    {"aten::_adaptive_avg_pool2d", kFirst, kLatest, grows_unevenly, kPoolGrows},
    {"aten::adaptive_avg_pool2d.out", kFirst, kLatest, grows_and_shrinks, kPoolBothWays},
    {"aten::adaptive_avg_pool2d.out", kFirst, kLatest, shrinks_unevenly, kPoolShrinks},
    {"aten::adaptive_avg_pool2d.out", kFirst, kLatest, grows_unevenly, kPoolGrows},
    // From 2.14 on, maxima have a kernel of their own, for all sizes.
    {"aten::adaptive_max_pool2d.out", kFirst, 13, grows_and_shrinks, kPoolBothWays},
    {"aten::adaptive_max_pool2d.out", kFirst, 13, is_wrong_maximum, kWrongMaximum, Outcome::wrong_values},

    {"aten::linear", kFirst, kLatest, [](const A& a) { return !is_float(a.type("input")); },
     "MPS device does not support linear for non-float inputs"},
    {"aten::linear", kFirst, kLatest, [](const A& a) { return a.tensor("input").is_cpu(); },
     "Tensor for argument input is on cpu but expected on mps"},
    {"aten::linear", kFirst, kLatest, [](const A& a) { return !is_float(a.type("weight")); },
     "MPS device does not support linear for non-float weights"},
    {"aten::linear", kFirst, kLatest, [](const A& a) { return a.tensor("weight").is_cpu(); },
     "Tensor for argument weight is on cpu but expected on mps"},
    {"aten::linear", kFirst, kLatest, [](const A& a) { return a.is_given("bias") && a.tensor("bias").is_cpu(); },
     "Tensor for argument bias is on cpu but expected on mps"},
    {"aten::linear", kFirst, kLatest, [](const A& a) { return a.is_given("bias") && !is_float(a.type("bias")); },
     "MPS device does not support linear for non-float bias"},

    {"aten::index_reduce.out", 12, kLatest, [](const A& a) { return a.type("self") == c10::kLong; },
     "index_reduce for MPS does not support torch.long dtype"},
    {"aten::addr", kFirst, kLatest, [](const A& a) { return !is_float(a.type("vec1")); },
     "MPS device does not support addr for non-float input"},
    {"aten::addr.out", kFirst, kLatest, [](const A& a) { return !is_float(a.type("vec1")); },
     "MPS device does not support addr for non-float input"},

    {"aten::linalg_qr.out", 12, kLatest, is_complex_matrix,
     "linalg_qr: MPS currently supports float32 only"},
    {"aten::linalg_lu_factor_ex.out", kFirst, 14, is_complex_matrix, kNoComplexLu},
    {"aten::linalg_lu.out", 10, 14, is_complex_matrix, kNoComplexLu},  // these call it
    {"aten::_linalg_det.result", kFirst, 14, is_complex_matrix, kNoComplexLu},
    {"aten::_linalg_slogdet.sign", kFirst, 14, is_complex_matrix, kNoComplexLu},
    {"aten::_linalg_solve_ex.result", 10, 13, is_complex_matrix, "linalg.lu_factor(): MPS only supports floats."},
    {"aten::_linalg_solve_ex.result", 14, 14, is_complex_matrix, kNoComplexLu},
    {"aten::linalg_lu_factor_ex.out", kFirst, kLatest, [](const A& a) { return !a["pivot"].toBool(); },
     "linalg.lu_factor(): MPS doesn't allow pivot == False."},

    {"aten::linalg_inv_ex.inverse", kFirst, kLatest, is_complex_matrix,
     "linalg_inv: not supported for complex types yet!"},
    {"aten::linalg_solve_triangular", 10, 14, is_complex, kNoComplexTriangle},
    {"aten::linalg_solve_triangular.out", 10, 14, is_complex, kNoComplexTriangle},
    {"aten::triangular_solve.X", 10, 14, is_complex_matrix, kNoComplexTriangle},
    {"aten::cholesky_inverse", 11, kLatest, is_complex,
     "cholesky_inverse: MPS only supports float type!"},
    {"aten::baddbmm.out", kFirst, 10, [](const A& a) { return c10::isIntegralType(a.type("batch1"), false); },
     "MPS device does not support addbmm or baddbmm for non-float inputs"},

    {"aten::_upsample_bicubic2d_aa.out", kFirst, kLatest, is_no_floating_image,
     "_upsample_bicubic2d_aa_out_mps only supports floating-point dtypes"},
    {"aten::_upsample_bilinear2d_aa.out", kFirst, kLatest, is_no_floating_image,
     "_upsample_bilineard2d_aa_out_mps only supports floating-point dtypes"},
    // Metal kernels are found by their name, of which these are missing (records NAME in the library).
    {"aten::upsample_bicubic2d.out", kFirst, kLatest, is_no_floating_image,
     "Failed to create function state object for: upsample_bicubic2d_uchar"},
    {"aten::scatter_reduce.two_out", 13, kLatest, multiplies_int64,
     "Failed to create function state object for: scatter_prod_dense_long_long"},

    {"aten::nonzero", kFirst, 11, is_complex, "MPS: nonzero op is not supported for complex datatypes"},
    {"aten::nonzero.out", kFirst, 11, is_complex, "MPS: nonzero op is not supported for complex datatypes"},
    {"aten::linalg_vector_norm.out", kFirst, 11, is_complex, "norm ops are not supported for complex yet"},
    {"aten::gather.out", kFirst, 11, is_complex, "gather(): Yet not supported for complex"},
    {"aten::scatter.src_out", kFirst, 11, is_complex, kNoComplexScatter},
    {"aten::scatter.value_out", kFirst, 11, is_complex, kNoComplexScatter},
    {"aten::scatter_add.out", kFirst, 11, is_complex, kNoComplexScatter},
    {"aten::native_batch_norm", 10, 13, [](const A& a) { return c10::isComplexType(a.type("input")); },
     "Batch norm for complex is not supported for MPS"},
    {"aten::grid_sampler_2d", 10, kLatest, [](const A& a) { return c10::isComplexType(a.type("input")); },
     "grid_sampler_2d is not supported for complex on MPS"},
    {"aten::huber_loss", 10, kLatest, is_complex,
     "huber_loss for complex is not supported for MPS"},
    {"aten::mish.out", 10, 14, is_complex,
     "Mish for complex is not supported for MPS"},
};

// What a CPU tensor among the arguments gets to hear. Most operators compare devices before they compute, as on every
// device; these meet the tensor in their kernel. Others may do so, too, and get the text of the most here.
struct MixedDevices {
  const char* op;
  int since, until;
  const char* text;
};

constexpr const char* kAnyDevices =
    "Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!";
constexpr const char* kGraph = "Placeholder storage has not been allocated on MPS device!";  // kernels of MPSGraph
constexpr const char* kMetal = "Passed CPU tensor to MPS op";  // kernels of PyTorch's own

inline const std::vector<MixedDevices> mixed_devices{
    {"aten::index_select", kFirst, 13, kGraph},  // Embedding, too
    {"aten::index_select", 14, kLatest, kMetal},
    {"aten::nll_loss_forward.output", kFirst, 14, kGraph},  // CrossEntropyLoss, too
    {"aten::nll_loss_forward.output", 15, kLatest, kMetal},
};

// ---- Their use ------------------------------------------------------------------------------------------------------

inline std::vector<const Rule*> rules_of(const std::string& op, int release) {
  std::vector<const Rule*> found;
  for (const auto& rule : rules)
    if (op == rule.op && rule.since <= release && release <= rule.until) found.push_back(&rule);
  return found;
}

inline const char* mixed_text_of(const std::string& op, int release) {
  for (const auto& mixed : mixed_devices)
    if (op == mixed.op && mixed.since <= release && release <= mixed.until) return mixed.text;
  return kAnyDevices;
}

// Refuse the arguments that the real device refuses, and tell of those with which it computes wrong values.
inline void obey(const Operator& op, const Arguments& arguments) {
  for (const auto* rule : op.rules) {
    if (!rule->applies(arguments)) continue;
    if (rule->outcome == Outcome::error) record().note("refused", op.name);
    TORCH_CHECK(rule->outcome != Outcome::error, rule->text);
    record().note("wrong values", op.name);
    TORCH_WARN(rule->text);
  }
}

}  // namespace simulated_mps
