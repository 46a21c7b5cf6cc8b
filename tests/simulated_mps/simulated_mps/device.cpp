// PyTorch's device "mps" on a machine without one. Every operator runs its CPU kernel on aliases of the MPS tensors'
// memory, after it was checked that the real device would accept it.

#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <ATen/ops/view_native.h>
#include <ATen/ops/zeros_like.h>
#include <torch/extension.h>
#include <torch/library.h>

#include "listener.h"
#include "memory.h"
#include "only_mps.h"
#include "record.h"
#include "rules.h"
#include "runtime.h"
#include "waits.h"

namespace simulated_mps {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IntArrayRef;
using c10::IValue;
using torch::jit::Stack;

// ---- Arguments and results of any operator ---------------------------------------------------------------------------

// Copies of arguments of certain types in float32, and the way back.
class InFloat32 {
 public:
  explicit InFloat32(Types types) : types_(types) {}

  IValue widen(const IValue& value) {
    if (value.isTensor()) return widen(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<Tensor> list;
    for (const Tensor& tensor : value.toTensorVector()) list.push_back(widen(tensor));
    return list;
  }

  void narrow(const c10::FunctionSchema& schema, Stack& stack) const {
    for (const auto& pair : pairs_) {
      if (!schema.is_mutable()) break;
      pair.narrow.resize_as_(pair.wide).copy_(pair.wide);
    }
    for (auto i = stack.size() - schema.returns().size(); i < stack.size(); ++i)
      if (stack[i].isTensor()) stack[i] = narrow(stack[i].toTensor());
  }

 private:
  struct Pair {
    Tensor narrow, wide;
  };

  Tensor widen(const Tensor& tensor) {
    if (!tensor.defined() || (types_ & bit(tensor.scalar_type())) == 0) return tensor;
    for (const auto& pair : pairs_)
      if (pair.narrow.is_same(tensor)) return pair.wide;
    pairs_.push_back(Pair{tensor, tensor.to(tensor.is_complex() ? c10::kComplexFloat : c10::kFloat)});
    return pairs_.back().wide;
  }

  Tensor narrow(const Tensor& tensor) const {
    for (const auto& pair : pairs_)
      if (pair.wide.is_same(tensor)) return pair.narrow;
    return tensor.defined() && tensor.scalar_type() == c10::kFloat ? tensor.to(pairs_.front().narrow.scalar_type())
                                                                    : tensor;
  }

  Types types_;
  std::vector<Pair> pairs_;
};

constexpr const char* kCpuLacks = "not implemented for '";

class Call {
 public:
  Call(const c10::OperatorHandle& op, const Operator& known) : op_(op), known_(known) {}

  // Compute with the kernel for `key`, a key of the CPU.
  void run(Stack* stack, DispatchKey key) {
    const auto& arguments = op_.schema().arguments();
    const auto first = stack->size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto& value = (*stack)[first + i];
      value = value.isNone() && arguments[i].name() == "generator" ? cpu_generator(default_generator()) : to_cpu(value);
    }
    TORCH_CHECK(!mixed_, known_.mixed_text);
    compute(stack, DispatchKeySet(key));
    aliases_.follow();
    for (auto i = stack->size() - op_.schema().returns().size(); i < stack->size(); ++i)
      (*stack)[i] = to_mps((*stack)[i]);
  }

 private:
  // Where the CPU has no kernel for half precision, it computes in float32, since MPS mostly has one; and so for other
  // types, where it is known that MPS has.
  void compute(Stack* stack, DispatchKeySet key) {
    const auto wide = types_ & (bit(c10::kHalf) | bit(c10::kBFloat16) | known_.beyond_the_cpu);
    std::optional<Stack> arguments;
    if (wide != 0) arguments.emplace(stack->end() - op_.schema().arguments().size(), stack->end());
    const auto below = stack->size() - op_.schema().arguments().size();
    try {
      op_.redispatchBoxed(key, stack);
    } catch (const c10::NotImplementedError& error) {
      const std::string text = error.what_without_backtrace();
      const auto at = text.find(kCpuLacks);
      if (at == std::string::npos) throw;
      const bool is_wide = arguments.has_value() && (wide & bit(type_named(text.substr(at + std::strlen(kCpuLacks))))) != 0;
      if (!is_wide) record().note("limit", known_.name);
      TORCH_CHECK_NOT_IMPLEMENTED(
          is_wide, "simulated_mps: the CPU has no kernel for this type; MPS may have one (", known_.name, ": ", text, ")");
      stack->resize(below);
      InFloat32 in_float32(wide | (wide & bit(c10::kHalf) ? bit(c10::kComplexHalf) : 0));  // polar has both
      for (const auto& argument : *arguments) stack->push_back(in_float32.widen(argument));
      op_.redispatchBoxed(key, stack);
      in_float32.narrow(op_.schema(), *stack);
    }
  }

  // The type that a text begins with, such as "Half'".
  static c10::ScalarType type_named(const std::string& text) {
    const auto name = text.substr(0, text.find('\''));
    for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i)
      if (name == c10::toString(static_cast<c10::ScalarType>(i))) return static_cast<c10::ScalarType>(i);
    return c10::ScalarType::Undefined;
  }

  Tensor to_cpu(const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    types_ |= bit(tensor.scalar_type());
    if (tensor.is_mps()) return aliases_.to_cpu(tensor);
    mixed_ = mixed_ || tensor.dim() > 0;  // numbers on the CPU are welcome everywhere
    return tensor;
  }

  IValue to_cpu(const IValue& value) {
    if (value.isTensor()) return to_cpu(value.toTensor());
    if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor& tensor : value.toTensorVector()) list.push_back(to_cpu(tensor));
      return list;
    }
    if (value.isList() && holds_tensors(value.toListRef())) return indices_to_cpu(value.toListRef());
    if (value.isDevice()) return c10::Device(c10::kCPU);
    if (value.isGenerator()) return cpu_generator(value.toGenerator());
    return value;
  }

  static bool holds_tensors(c10::ArrayRef<IValue> list) {
    return std::any_of(list.begin(), list.end(), [](const IValue& each) { return each.isTensor(); });
  }

  // x[indices]: indices may be on the CPU on every device.
  IValue indices_to_cpu(c10::ArrayRef<IValue> indices) {
    c10::List<std::optional<Tensor>> list;
    for (const auto& index : indices) {
      const bool ours = index.isTensor() && index.toTensor().defined() && index.toTensor().is_mps();
      list.push_back(ours ? aliases_.to_cpu(index.toTensor()) : index.toOptional<Tensor>());
    }
    return list;
  }

  static IValue cpu_generator(const at::Generator& generator) {
    TORCH_CHECK(
        generator.device().is_mps(), "Expected a 'mps' device type for generator but found '", generator.device().type(),
        "'");
    return next_numbers(generator);
  }

  IValue to_mps(const IValue& value) {
    if (value.isTensor()) return aliases_.to_mps(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<Tensor> list;
    for (const Tensor& tensor : value.toTensorVector()) list.push_back(aliases_.to_mps(tensor));
    return list;
  }

  const c10::OperatorHandle& op_;
  const Operator& known_;
  Aliases aliases_;
  Types types_ = 0;  // of all arguments
  bool mixed_ = false;
};

void any_operator(const c10::OperatorHandle& op, Stack* stack) {
  auto& known = record().find(op);
  admit(known);
  note_wait(known, Arguments(op, *stack));
  if (known.verdict == Operator::Verdict::has_kernel) obey(known, Arguments(op, *stack));
  Call(op, known).run(stack, DispatchKey::CPU);
}

// The CPU adds up all but float32 in float64, MPS in the type of the weights, or int32
// (aten/src/ATen/native/mps/operations/SummaryOps.mm).
Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, int64_t minimum) {
  static auto& op = record().find("aten::bincount");
  admit(op);
  record().note("wait", op.name);
  Aliases aliases;
  std::optional<Tensor> cpu_weights;
  if (weights.has_value() && weights->defined()) cpu_weights = aliases.to_cpu(*weights);
  const auto counts = at::bincount(aliases.to_cpu(self), cpu_weights, minimum);
  if (!cpu_weights.has_value()) return aliases.to_mps(counts);
  const auto type = cpu_weights->scalar_type();
  return aliases.to_mps(counts.to(type == c10::kFloat || type == c10::kHalf ? type : c10::kInt));
}

// PyTorch asks whether MPS has this one's inner kernel, which fails in a build without MPS. There it has none, and
// multiplies by a power of two.
void composed(const c10::OperatorHandle& op, Stack* stack) { Call(op, record().find(op)).run(stack, DispatchKey::CPU); }

// Tensors that hold their elements by coordinates. PyTorch's list names the operators that take them.
void sparse_operator(const c10::OperatorHandle& op, Stack* stack) {
  auto& known = record().find_sparse(op);
  ++known.calls;
  Call(op, known).run(stack, DispatchKey::SparseCPU);
}

// ---- New tensors, views, copies --------------------------------------------------------------------------------------

Tensor empty(
    IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>,
    std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  check_dimensions(size);
  return at::detail::empty_generic(size, &allocator(), DispatchKeySet(DispatchKey::MPS), accepted(c10::dtype_or_default(dtype)), format);
}

Tensor empty_strided(
    IntArrayRef size, IntArrayRef stride, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>,
    std::optional<c10::Device>, std::optional<bool>) {
  check_dimensions(size);
  return at::detail::empty_strided_generic(
      size, stride, &allocator(), DispatchKeySet(DispatchKey::MPS), accepted(c10::dtype_or_default(dtype)));
}

// Zeros without memory, which a gradient may be.
Tensor zero_tensor(
    IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>,
    std::optional<bool>) {
  static at::native::ZeroTensorAllocator nothing(kDevice);
  const auto keys = DispatchKeySet(DispatchKey::MPS) | DispatchKeySet(DispatchKey::ZeroTensor);
  return at::detail::empty_generic(size, &nothing, keys, accepted(c10::dtype_or_default(dtype)), std::nullopt);
}

// The device keeps 8-bit floats, but has no kernel that converts them. Texts of getMPSDataType and, since 2.13, of
// scalarToMetalTypeString in aten/src/ATen/native/mps/OperationUtils.mm.
void check_conversion(const Tensor& self, const Tensor& source) {
  if (!source.is_mps() || self.scalar_type() == source.scalar_type()) return;
  const bool from = c10::isFloat8Type(source.scalar_type());
  if (!from && !(self.is_mps() && c10::isFloat8Type(self.scalar_type()))) return;
  const auto type = from ? source.scalar_type() : self.scalar_type();
  record().note("refused " + std::string(c10::toString(type)));
  TORCH_CHECK_TYPE(
      record().release > 12, "Trying to convert ", type,
      " to the MPS backend but it does not have support for that dtype.");
  TORCH_CHECK(false, "Undefined type ", type);
}

Tensor& copy_(Tensor& self, const Tensor& source, bool) {
  if (source._is_zerotensor()) return self.zero_();
  if (source.is_sparse()) return at::native::copy_sparse_wrapper_(self, source);
  check_conversion(self, source);
  if (self.is_mps() != source.is_mps()) record().note(self.is_mps() ? "cpu to mps" : "mps to cpu");
  Aliases aliases;
  const auto on_cpu = [&](const Tensor& tensor) { return tensor.is_mps() ? aliases.to_cpu(tensor) : tensor; };
  on_cpu(self).copy_(on_cpu(source));
  return self;
}

Tensor copy_from(const Tensor& self, const Tensor& target, bool non_blocking) {
  auto result = target;
  return copy_(result, self, non_blocking);
}

c10::Scalar local_scalar(const Tensor& self) {
  record().note("item");
  Aliases aliases;
  return aliases.to_cpu(self).item();
}

// A storage cannot be passed to a CPU kernel as an alias, so the four forms of set_ are written out.
Tensor& set_storage(Tensor& self, c10::Storage storage, int64_t offset, IntArrayRef size, IntArrayRef stride) {
  TORCH_CHECK(
      storage.device().is_mps(), "Attempted to set the storage of a tensor on device \"mps:0\" to a storage on "
      "different device \"", storage.device(), "\".  This is no longer allowed; the devices must match.");
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(storage));
  if (stride.empty() && !size.empty()) {
    impl->set_storage_offset(offset);
    impl->set_sizes_contiguous(size);
  } else {
    impl->set_sizes_and_strides(size, stride, offset);
  }
  return self;
}

Tensor& set_whole_storage(Tensor& self, c10::Storage storage) {
  const auto size = static_cast<int64_t>(storage.nbytes() / self.itemsize());
  return set_storage(self, std::move(storage), 0, {size}, {1});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

Tensor& set_empty(Tensor& self) {
  return set_storage(self, c10::Storage(c10::Storage::use_byte_size_t(), 0, &allocator(), true), 0, {0}, {1});
}

// ---- Operators for which PyTorch chooses by device ---------------------------------------------------------------------

// Text and condition of aten/src/ATen/native/mps/operations/Convolution.mm, 2.9 to 2.15.
void check_convolution(const Operator& op, const Tensor& input, bool transposed) {
  const auto type = input.scalar_type();
  TORCH_CHECK(
      is_taken(!transposed || input.dim() != 5 || (type != c10::kHalf && type != c10::kBFloat16), op.name),
      "ConvTranspose 3D with BF16 or FP16 types is not supported on MPS");
  TORCH_CHECK(is_taken(c10::isFloatingType(type), op.name), "Convolution is supported only for Floating types");
}

// Text and condition of the same file, 2.9 to 2.15. It asks for every size, not only for the channels.
void check_size(const Operator& op, const Tensor& output) {
  if (record().macos >= kMacOS15_1) return;
  for (const auto size : output.sizes())
    TORCH_CHECK_NOT_IMPLEMENTED(
        is_taken(size <= 1 << 16, op.name), "Output channels > 65536 not supported at the MPS device. ");
}

// As aten/src/ATen/native/Convolution.cpp does for MPS.
void check_same_type(const Tensor& input, const Tensor& parameter, const char* name) {
  TORCH_CHECK(
      input.options().type_equal(parameter.options()), "Input type (", input.toString(), ") and ", name, " type (",
      parameter.toString(), ") should be the same");
}

Tensor convolution(
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups) {
  static auto& op = record().find("aten::_mps_convolution");
  admit(op);
  Aliases aliases;
  check_same_type(input, weight, "weight");
  std::optional<Tensor> cpu_bias;
  if (bias.has_value() && bias->defined()) {
    check_same_type(input, *bias, "bias");
    cpu_bias = aliases.to_cpu(*bias);
  }
  check_convolution(op, input, transposed);
  const auto output = at::convolution(
      aliases.to_cpu(input), aliases.to_cpu(weight), cpu_bias, stride, padding, dilation, transposed, output_padding,
      groups);
  check_size(op, output);
  return aliases.to_mps(output);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& gradient, const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  static auto& op = record().find("aten::mps_convolution_backward");
  admit(op);
  Aliases aliases;
  const std::vector<int64_t> bias_size{gradient.size(1)};
  auto [for_input, for_weight, for_bias] = at::convolution_backward(
      aliases.to_cpu(gradient), aliases.to_cpu(input), aliases.to_cpu(weight), bias_size, stride, padding, dilation,
      transposed, output_padding, groups, mask);
  if (for_input.defined()) check_size(op, for_input);
  return {aliases.to_mps(for_input), aliases.to_mps(for_weight), aliases.to_mps(for_bias)};
}

// Reached only with an input on the CPU and a weight on MPS: text of aten/src/ATen/mps/MPSFallback.mm.
Tensor slow_convolution(
    const Tensor& input, const Tensor& weight, IntArrayRef, const std::optional<Tensor>&, IntArrayRef, IntArrayRef) {
  TORCH_CHECK(
      false, "slow_conv2d_forward_mps: input(device='", input.device(), "') and weight(device=", weight.device(),
      "')  must be on the same device");
}

// As aten/src/ATen/native/transformers/attention.cpp does on every device before it chooses a kernel.
void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask) {
  TORCH_CHECK(
      query.dtype() == key.dtype() && query.dtype() == value.dtype(),
      "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.dtype(), " key.dtype: ",
      key.dtype(), " and value.dtype: ", value.dtype(), " instead.");
  TORCH_CHECK(
      query.device() == key.device() && query.device() == value.device(),
      "Expected query, key, and value to have the same device type, but got query.device: ", query.device(),
      " key.device: ", key.device(), " and value.device: ", value.device(), " instead.");
  TORCH_CHECK(
      query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
      "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ", query.dim(),
      " key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  if (!mask.has_value()) return;
  TORCH_CHECK(
      mask->dtype() == at::kBool || mask->dtype() == at::kFloat || mask->dtype() == query.dtype(),
      "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
      mask->dtype(), " and  query.dtype: ", query.dtype(), " instead.");
}

// The table of attention kernels has no place for MPS in this build. The real device, too, takes the composite form
// whenever a gradient is needed.
Tensor attention_by_device(
    const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask, double dropout,
    bool causal, std::optional<double> scale, bool grouped) {
  if (!query.is_mps())
    return at::native::scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale, grouped);
  check_attention(query, key, value, mask);
  const bool trains = at::GradMode::is_enabled() && (query.requires_grad() || key.requires_grad() || value.requires_grad());
  // As aten/src/ATen/native/mps/operations/Attention.mm does from 2.13 on; older ones drop nothing, silently.
  TORCH_CHECK_NOT_IMPLEMENTED(
      is_taken(trains || dropout == 0 || record().release < 13, "aten::_scaled_dot_product_attention_math_for_mps"),
      "scaled_dot_product_attention for MPS does not support dropout.");
  record().note(trains ? "attention with gradients" : "attention without gradients");
  std::optional<Tensor> bias = mask;
  if (mask.has_value() && mask->dtype() == at::kBool)
    bias = at::zeros_like(*mask, query.options())
               .masked_fill(mask->logical_not(), -std::numeric_limits<double>::infinity());
  return std::get<0>(at::_scaled_dot_product_attention_math(
      query, key, value, bias, dropout, causal, std::nullopt, scale, grouped));
}

// Operators that are composed of others, but that the real device sends to the CPU as a whole: with copies, so that
// gradients are recorded.
void whole_on_cpu(const c10::OperatorHandle& op, Stack* stack) {
  admit(record().find(op));
  at::native::cpu_fallback(op, stack);
}

// Register `function` for operators that this PyTorch knows, except where one written for them is.
template <c10::KernelFunction::BoxedKernelFunction* function>
void implement(torch::Library& library, DispatchKey key, const std::vector<std::string>& names) {
  for (const auto& full : names) {
    const auto dot = full.find('.');
    const auto name = "aten::" + full.substr(0, dot), overload = dot == std::string::npos ? "" : full.substr(dot + 1);
    const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
    if (op.has_value() && !op->hasKernelForDispatchKey(key))
      library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<function>());
  }
}

// Operators for which PyTorch would not ask the fallback, by release: composed of others, or of sparse tensors.
struct ByRelease {
  torch::Library dense{torch::Library::IMPL, "aten", DispatchKey::MPS, __FILE__, __LINE__};
  torch::Library sparse{torch::Library::IMPL, "aten", DispatchKey::SparseMPS, __FILE__, __LINE__};
};

void register_by_release(
    const std::vector<std::string>& with_kernel, const std::vector<std::string>& whole,
    const std::vector<std::string>& sparse) {
  static std::optional<ByRelease> registered;
  registered.reset();
  auto& now = registered.emplace();
  implement<&any_operator>(now.dense, DispatchKey::MPS, with_kernel);
  implement<&whole_on_cpu>(now.dense, DispatchKey::MPS, whole);
  implement<&sparse_operator>(now.sparse, DispatchKey::SparseMPS, sparse);
}

// Text of aten/src/ATen/native/DispatchStub.cpp: only the CPU and CUDA compute this window.
void no_kaiser_window(const c10::OperatorHandle&, Stack*) {
  TORCH_CHECK(false, "DispatchStub: missing kernel for mps");
}

TORCH_LIBRARY_IMPL(_, MPS, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

TORCH_LIBRARY_IMPL(aten, MPS, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("_efficientzerotensor", zero_tensor);
  m.impl("copy_", copy_);
  m.impl("_copy_from", copy_from);
  m.impl("_local_scalar_dense", local_scalar);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Storage", set_whole_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_", set_empty);
  m.impl("bincount", bincount);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("_slow_conv2d_forward", slow_convolution);
  m.impl("linear_backward", linear_backward);
  m.impl("max_pool2d_backward", max_pool2d_backward);
  m.impl("_lstm_mps", lstm);
  m.impl("lstm_mps_backward", lstm_backward);
  m.impl("_convert_weight_to_int4pack", pack_int4);
  m.impl("_weight_int4pack_mm", multiply_int4);
  for (const auto* name : {"kaiser_window", "kaiser_window.periodic", "kaiser_window.beta"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&no_kaiser_window>());
  for (const auto* name : {"ldexp.Tensor", "ldexp_", "ldexp.out"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&composed>());
}

TORCH_LIBRARY_IMPL(aten, SparseMPS, m) {
  m.impl("copy_", at::native::copy_sparse_wrapper_);
  m.impl("copy_sparse_to_sparse_", at::native::copy_sparse_);
}

// PyTorch allows one accelerator, and in its builds for CUDA that is CUDA, with a GPU or without. So its hooks become
// those of a build without: the object stays, and calls the functions of its base.
void hide_cuda() {
  static const at::CUDAHooksInterface none;
  auto* hooks = const_cast<at::CUDAHooksInterface*>(&at::detail::getCUDAHooks());
  std::memcpy(static_cast<void*>(hooks), static_cast<const void*>(&none), sizeof(void*));
}

// Composed operators of which builds with MPS compose others, in place of those of this build: for all keys, since
// torch.func does not ask for a kernel of the device.
void replace_composed() {
  struct Silent final : c10::WarningHandler {  // PyTorch warns that they were there
    void process(const c10::Warning&) override {}
  } silent;
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);
  static torch::Library composed(
      torch::Library::IMPL, "aten", DispatchKey::CompositeImplicitAutograd, __FILE__, __LINE__);
  composed.impl("lstm.input", lstm_by_device);
  composed.impl("scaled_dot_product_attention", attention_by_device);
  static torch::Library batched(
      torch::Library::IMPL, "aten", DispatchKey::FuncTorchBatchedDecomposition, __FILE__, __LINE__);
  static torch::Library vmap(torch::Library::IMPL, "aten", DispatchKey::FuncTorchVmapMode, __FILE__, __LINE__);
  for (auto* library : {&batched, &vmap}) library->impl("scaled_dot_product_attention", attention_by_device);
}

C10_REGISTER_GUARD_IMPL(MPS, Guard)

struct RegisterAllocator {
  RegisterAllocator() { c10::SetAllocator(c10::kMPS, &allocator()); }
} register_allocator;

}  // namespace
}  // namespace simulated_mps

namespace at {
C10_REGISTER_TYPED_CLASS(MPSHooksRegistry, "MPSHooks", simulated_mps::Hooks)
}

// ---- What Python sees ----------------------------------------------------------------------------------------------------

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  using namespace simulated_mps;
  hide_cuda();
  replace_composed();
  py::class_<Rule>(m, "Rule").def(py::init<
      std::string, std::string, std::string, std::string, std::vector<c10::ScalarType>, bool, std::string, std::string,
      std::string>());
  m.def("set_rules", [](const std::vector<std::string>& kernels, const std::vector<std::string>& always_on_cpu,
                        bool fallback, const std::string& commit, int release, const std::vector<Rule>& refused,
                        const std::unordered_map<std::string, std::string>& mixed_texts,
                        const std::unordered_map<std::string, std::vector<c10::ScalarType>>& beyond_the_cpu) {
    Rules rules{{}, mixed_texts, {}};
    for (const auto& rule : refused)
      if (auto check = check_of(rule)) rules.checks[rule.op].push_back(std::move(*check));
    for (const auto& [op, types] : beyond_the_cpu)
      for (const auto type : types) rules.beyond_the_cpu[op] |= bit(type);
    auto& now = record();
    const std::lock_guard<std::mutex> lock(now.mutex);
    now.kernels = {kernels.begin(), kernels.end()};
    now.always_on_cpu = {always_on_cpu.begin(), always_on_cpu.end()};
    now.fallback = fallback;
    now.commit = commit;
    now.release = release;
    now.rules = std::move(rules);
    for (auto& [name, op] : now.operators) now.choose(*op);
  });
  m.def("set_macos", [](int major, int minor) { record().macos = major * 100 + minor; });
  m.def("verdict", [](const std::string& name) { return static_cast<int>(record().judge(name)); });
  m.def("register_by_release", &register_by_release);
  m.def("operators", [] {  // name → (verdict, calls)
    auto& rules = record();
    const std::lock_guard<std::mutex> lock(rules.mutex);
    std::map<std::string, std::pair<int, int64_t>> result;
    for (const auto& [name, op] : rules.operators)
      if (op->calls > 0) result[name] = {static_cast<int>(op->verdict), op->calls.load()};
    return result;
  });
  m.def("listen", &listen);
  m.def("allocated", [] { return record().allocated.load(); });
  m.def("peak", [] { return record().peak.load(); });
  m.def("default_generator", [] { return default_generator(); });
}
