// PyTorch's device "mps" on a machine without one. Every operator runs its CPU kernel on aliases of the MPS tensors'
// memory, after it was checked that the real device would accept it.

#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/view_native.h>
#include <ATen/ops/zeros_like.h>
#include <torch/extension.h>
#include <torch/library.h>

#include "listener.h"
#include "memory.h"
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

class Call {
 public:
  Call(const c10::OperatorHandle& op, const Operator& known) : op_(op), known_(known) {}

  void run(Stack* stack) {
    const auto& arguments = op_.schema().arguments();
    const auto first = stack->size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto& value = (*stack)[first + i];
      value = value.isNone() && arguments[i].name() == "generator" ? cpu_generator(default_generator()) : to_cpu(value);
    }
    TORCH_CHECK(!mixed_, known_.mixed_text);
    op_.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
    aliases_.follow();
    for (auto i = stack->size() - op_.schema().returns().size(); i < stack->size(); ++i)
      (*stack)[i] = to_mps((*stack)[i]);
  }

 private:
  Tensor to_cpu(const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
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
    if (value.isOptionalTensorList()) return indices_to_cpu(value.toOptionalTensorVector());
    if (value.isDevice()) return c10::Device(c10::kCPU);
    if (value.isGenerator()) return cpu_generator(value.toGenerator());
    return value;
  }

  // x[indices]: indices may be on the CPU on every device.
  IValue indices_to_cpu(const std::vector<std::optional<Tensor>>& indices) {
    c10::List<std::optional<Tensor>> list;
    for (const auto& index : indices) {
      const bool ours = index.has_value() && index->defined() && index->is_mps();
      list.push_back(ours ? std::optional<Tensor>(aliases_.to_cpu(*index)) : index);
    }
    return list;
  }

  static IValue cpu_generator(const at::Generator& generator) {
    TORCH_CHECK(
        generator.device().is_mps(), "Expected a 'mps' device type for generator but found '", generator.device().type(),
        "'");
    return at::Generator(static_cast<Generator*>(generator.unsafeGetGeneratorImpl())->inner);
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
  bool mixed_ = false;
};

void any_operator(const c10::OperatorHandle& op, Stack* stack) {
  auto& known = record().find(op);
  admit(known);
  note_wait(known, Arguments(op, *stack));
  if (known.verdict == Operator::Verdict::has_kernel) obey(known, Arguments(op, *stack));
  Call(op, known).run(stack);
}

// Operators that are composed of others here, but have a kernel with rules of its own on the real device.
void composed_with_rules(const c10::OperatorHandle& op, Stack* stack) {
  obey(record().find(op), Arguments(op, *stack));
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
}

// ---- New tensors, views, copies --------------------------------------------------------------------------------------

c10::ScalarType accepted(std::optional<c10::ScalarType> dtype) {
  const auto type = c10::dtype_or_default(dtype);
  if (type == c10::kDouble || type == c10::kComplexDouble) record().note("refused " + std::string(c10::toString(type)));
  TORCH_CHECK_TYPE(
      type != c10::kDouble,
      "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
      "Please use float32 instead.");
  TORCH_CHECK_TYPE(
      type != c10::kComplexDouble, "Trying to convert ", type,
      " to the MPS backend but it does not have support for that dtype.");
  return type;
}

Tensor empty(
    IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>,
    std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  check_dimensions(size);
  return at::detail::empty_generic(size, &allocator(), DispatchKeySet(DispatchKey::MPS), accepted(dtype), format);
}

Tensor empty_strided(
    IntArrayRef size, IntArrayRef stride, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>,
    std::optional<c10::Device>, std::optional<bool>) {
  check_dimensions(size);
  return at::detail::empty_strided_generic(
      size, stride, &allocator(), DispatchKeySet(DispatchKey::MPS), accepted(dtype));
}

// Zeros without memory, which a gradient may be.
Tensor zero_tensor(
    IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>, std::optional<c10::Device>,
    std::optional<bool>) {
  static at::native::ZeroTensorAllocator nothing(kDevice);
  const auto keys = DispatchKeySet(DispatchKey::MPS) | DispatchKeySet(DispatchKey::ZeroTensor);
  return at::detail::empty_generic(size, &nothing, keys, accepted(dtype), std::nullopt);
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
void check_convolution(const Tensor& input, bool transposed) {
  const auto type = input.scalar_type();
  TORCH_CHECK(
      !transposed || input.dim() != 5 || (type != c10::kHalf && type != c10::kBFloat16),
      "ConvTranspose 3D with BF16 or FP16 types is not supported on MPS");
  TORCH_CHECK(c10::isFloatingType(type), "Convolution is supported only for Floating types");
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
  check_convolution(input, transposed);
  return aliases.to_mps(at::convolution(
      aliases.to_cpu(input), aliases.to_cpu(weight), cpu_bias, stride, padding, dilation, transposed, output_padding,
      groups));
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
// whenever a gradient or dropout is needed.
Tensor attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask, double dropout,
    bool causal, std::optional<double> scale, bool grouped) {
  check_attention(query, key, value, mask);
  const bool trains = at::GradMode::is_enabled() && (query.requires_grad() || key.requires_grad() || value.requires_grad());
  record().note(trains ? "attention with gradients" : "attention without gradients");
  std::optional<Tensor> bias = mask;
  if (mask.has_value() && mask->dtype() == at::kBool)
    bias = at::zeros_like(*mask, query.options())
               .masked_fill_(mask->logical_not(), -std::numeric_limits<double>::infinity());
  return std::get<0>(at::_scaled_dot_product_attention_math(
      query, key, value, bias, dropout, causal, std::nullopt, scale, grouped));
}

// Operators that are composed of others, but that the real device sends to the CPU as a whole: with copies, so that
// gradients are recorded.
void whole_on_cpu(const c10::OperatorHandle& op, Stack* stack) {
  admit(record().find(op));
  at::native::cpu_fallback(op, stack);
}

void send_to_cpu(const std::string& name) {
  static torch::Library library(torch::Library::IMPL, "aten", DispatchKey::MPS, __FILE__, __LINE__);
  static std::unordered_set<std::string> sent;
  if (sent.insert(name).second) library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&whole_on_cpu>());
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
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("_slow_conv2d_forward", slow_convolution);
  m.impl("scaled_dot_product_attention", attention);
  for (const auto* name : {"linear", "lstm.input"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&composed_with_rules>());
  for (const auto* name : {"addr", "addr.out"})  // composed of others, were it not for this
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

TORCH_LIBRARY_IMPL(aten, AutogradMPS, m) {
  m.impl("scaled_dot_product_attention", attention);
  for (const auto* name : {"linear", "lstm.input"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&composed_with_rules>());
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
  m.def("set_rules", [](const std::vector<std::string>& kernels, const std::vector<std::string>& always_on_cpu,
                        bool fallback, const std::string& commit, int release) {
    auto& rules = record();
    const std::lock_guard<std::mutex> lock(rules.mutex);
    rules.kernels = {kernels.begin(), kernels.end()};
    rules.always_on_cpu = {always_on_cpu.begin(), always_on_cpu.end()};
    rules.fallback = fallback;
    rules.commit = commit;
    rules.release = release;
    for (auto& [name, op] : rules.operators) op->choose(rules.judge(name), release);
  });
  m.def("verdict", [](const std::string& name) { return static_cast<int>(record().judge(name)); });
  m.def("send_to_cpu", &send_to_cpu);
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
