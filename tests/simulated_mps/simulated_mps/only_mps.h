// Operators that only the real device has a kernel of. PyTorch's own code records their gradients, as it does there.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <ATen/ops/_lstm_mps.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include "memory.h"
#include "record.h"
#include "runtime.h"

namespace simulated_mps {

using at::Tensor;
using c10::IntArrayRef;

// Convolutions, and what else is written by hand, compare devices here.
inline void check_on_device(const Operator& op, std::initializer_list<Tensor> tensors) {
  for (const auto& tensor : tensors) TORCH_CHECK(!tensor.defined() || tensor.is_mps(), op.mixed_text);
}

// ---- Linear layers and pooling --------------------------------------------------------------------------------------

inline std::tuple<Tensor, Tensor, Tensor> linear_backward(
    const Tensor& input, const Tensor& gradient, const Tensor& weight, std::array<bool, 3> mask) {
  static auto& op = record().find("aten::linear_backward");
  admit(op);
  check_on_device(op, {input, gradient, weight});
  Aliases aliases;
  const bool is_vector = weight.dim() == 1;  // of one output, without a dimension for it
  const auto matrix = is_vector ? aliases.to_cpu(weight).unsqueeze(0) : aliases.to_cpu(weight);
  const auto outer = is_vector ? aliases.to_cpu(gradient).unsqueeze(-1) : aliases.to_cpu(gradient);
  const auto rows = outer.reshape({-1, matrix.size(0)});
  Tensor for_input, for_weight, for_bias;
  if (mask[0]) for_input = outer.matmul(matrix.conj());
  if (mask[1])
    for_weight = rows.t().mm(aliases.to_cpu(input).reshape({-1, matrix.size(1)}).conj()).view(weight.sizes());
  if (mask[2]) for_bias = is_vector ? rows.sum() : rows.sum(0);
  return {aliases.to_mps(for_input), aliases.to_mps(for_weight), aliases.to_mps(for_bias)};
}

inline Tensor max_pool2d_backward(
    const Tensor& gradient, const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool ceil_mode) {
  static auto& op = record().find("aten::max_pool2d_backward");
  admit(op);
  check_on_device(op, {gradient, self});
  Aliases aliases;
  const auto image = aliases.to_cpu(self);
  const auto indices =
      std::get<1>(at::max_pool2d_with_indices(image, kernel, stride, padding, dilation, ceil_mode));
  return aliases.to_mps(at::max_pool2d_with_indices_backward(
      aliases.to_cpu(gradient), image, kernel, stride, padding, dilation, ceil_mode, indices));
}

// ---- LSTM -----------------------------------------------------------------------------------------------------------

// CPU operators that take no generator draw from `numbers` while this lives.
class DrawFrom {
 public:
  explicit DrawFrom(const at::Generator& numbers) : before_(at::detail::getDefaultCPUGenerator().get_state()) {
    set(numbers.get_state());
  }
  ~DrawFrom() { set(before_); }
  DrawFrom(const DrawFrom&) = delete;
  DrawFrom& operator=(const DrawFrom&) = delete;

 private:
  static void set(const Tensor& state) {
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(state);
  }
  Tensor before_;
};

inline std::vector<Tensor> all_to_cpu(Aliases& aliases, at::TensorList tensors) {
  std::vector<Tensor> result;
  for (const auto& tensor : tensors) result.push_back(aliases.to_cpu(tensor));
  return result;
}

// The real kernel keeps its gates for the backward pass. Here the first of the three is where the numbers of dropout
// begin, and the backward pass computes the layer again.
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> lstm(
    const Tensor& input, at::TensorList hx, at::TensorList parameters, bool has_biases, int64_t layers, double dropout,
    bool train, bool bidirectional, bool batch_first) {
  static auto& op = record().find("aten::_lstm_mps");
  admit(op);
  for (const auto list : {hx, parameters})
    for (const auto& tensor : list) check_on_device(op, {tensor});
  TORCH_CHECK(
      is_taken(hx[0].dim() != 3 || hx[1].dim() != 3 || hx[0].size(2) == hx[1].size(2), op.name),
      "LSTM with projections is not currently supported with MPS.");
  Aliases aliases;
  std::optional<DrawFrom> numbers;
  Tensor state;
  if (train && dropout > 0) {
    state = default_generator().get_state();
    numbers.emplace(next_numbers(default_generator()));
  } else {
    state = at::detail::empty_cpu({0}, c10::kByte);
  }
  const auto [output, hidden, cell] = at::lstm(
      aliases.to_cpu(input), all_to_cpu(aliases, hx), all_to_cpu(aliases, parameters), has_biases, layers, dropout,
      train, bidirectional, batch_first);
  const auto none = [&] { return aliases.to_mps(at::detail::empty_cpu({0}, input.scalar_type())); };
  return {aliases.to_mps(output), aliases.to_mps(hidden), aliases.to_mps(cell), aliases.to_mps(state), none(), none()};
}

inline std::tuple<Tensor, std::vector<Tensor>, std::vector<Tensor>> lstm_backward(
    const std::optional<Tensor>& for_output, const std::optional<Tensor>& for_hidden,
    const std::optional<Tensor>& for_cell, const Tensor& state, const Tensor&, const Tensor& input, const Tensor&,
    at::TensorList hx, at::TensorList parameters, bool has_biases, int64_t layers, double dropout, bool train,
    bool bidirectional, bool batch_first) {
  static auto& op = record().find("aten::lstm_mps_backward");
  admit(op);
  Aliases aliases;
  // As at the start of a program: gradients are recorded, whatever the caller does.
  const c10::impl::ForceDispatchKeyGuard plain(c10::default_included_set, c10::default_excluded_set);
  const c10::AutoGradMode gradients(true);
  std::vector<Tensor> inputs;
  const auto leaf = [&](const Tensor& tensor) {
    inputs.push_back(aliases.to_cpu(tensor).detach().requires_grad_());
    return inputs.back();
  };
  const auto leaves = [&](at::TensorList tensors) {
    std::vector<Tensor> result;
    for (const auto& tensor : tensors) result.push_back(leaf(tensor));
    return result;
  };
  const auto first = leaf(input);
  const auto states = leaves(hx);
  const auto weights = leaves(parameters);
  std::optional<DrawFrom> numbers;
  if (train && dropout > 0) {
    auto again = default_generator().clone();
    again.set_state(aliases.to_cpu(state));
    numbers.emplace(next_numbers(again));
  }
  const auto [output, hidden, cell] =
      at::lstm(first, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first);
  std::vector<Tensor> outputs, given;
  const auto add = [&](const Tensor& result, const std::optional<Tensor>& gradient) {
    if (!gradient.has_value() || !gradient->defined()) return;
    outputs.push_back(result);
    given.push_back(aliases.to_cpu(*gradient));
  };
  add(output, for_output);
  add(hidden, for_hidden);
  add(cell, for_cell);
  const auto found = torch::autograd::grad(outputs, inputs, given, std::nullopt, false, true);
  std::vector<Tensor> all;
  for (size_t i = 0; i < found.size(); ++i)
    all.push_back(aliases.to_mps((found[i].defined() ? found[i] : at::zeros_like(inputs[i])).detach()));
  const auto middle = all.begin() + 1 + static_cast<int64_t>(hx.size());
  return {all[0], {all.begin() + 1, middle}, {middle, all.end()}};
}

// As aten/src/ATen/native/RNN.cpp begins in builds with MPS.
inline std::tuple<Tensor, Tensor, Tensor> lstm_by_device(
    const Tensor& input, at::TensorList hx, at::TensorList parameters, bool has_biases, int64_t layers, double dropout,
    bool train, bool bidirectional, bool batch_first) {
  if (!input.is_mps())
    return at::native::lstm(input, hx, parameters, has_biases, layers, dropout, train, bidirectional, batch_first);
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  const auto results =
      at::_lstm_mps(input, hx, parameters, has_biases, layers, dropout, train, bidirectional, batch_first);
  return {std::get<0>(results), std::get<1>(results), std::get<2>(results)};
}

// ---- Weights of four bits: texts and layout of aten/src/ATen/native/mps/operations/Quantized.mm -----------------------

constexpr const char* kPack = "_convert_weight_to_int4pack_mps";

// The bytes stay as they are: how the real device orders them within the result is not simulated.
inline Tensor pack_int4(const Tensor& weight, int64_t tiles) {
  static auto& op = record().find("aten::_convert_weight_to_int4pack");
  admit(op);
  TORCH_CHECK(weight.dim() == 2, kPack, " : expect weight to be 2D tensor.");
  TORCH_CHECK(weight.scalar_type() == c10::kByte, kPack, " : expect weight to be kByte.");
  TORCH_CHECK(
      tiles == 2 || tiles == 4 || tiles == 8, kPack, " : innerKTiles need to be 2, 4, or 8, got ", tiles);
  Aliases aliases;
  const auto rows = weight.size(0), columns = weight.size(1) * 2;
  const auto packed = aliases.to_cpu(weight).clone(at::MemoryFormat::Contiguous).view(c10::kInt);
  return aliases.to_mps(packed.view({rows / 8, columns / (tiles * 16), 32, tiles / 2}));
}

inline Tensor multiply_int4(const Tensor& self, const Tensor& packed, int64_t group, const Tensor& scales) {
  static auto& op = record().find("aten::_weight_int4pack_mm");
  admit(op);
  check_on_device(op, {self, packed, scales});
  Aliases aliases;
  const auto rows = packed.size(0) * 8, columns = self.size(1);
  const auto bytes = aliases.to_cpu(packed).view(c10::kByte).view({rows, columns / 2});
  const auto numbers = at::stack({bytes.bitwise_right_shift(4), bytes.bitwise_and(15)}, -1).view({rows, -1, group});
  const auto by_row = aliases.to_cpu(scales).to(c10::kFloat).transpose(0, 1);  // rows × groups × (scale, zero)
  const auto weight = (numbers.to(c10::kFloat) - 8) * by_row.slice(2, 0, 1) + by_row.slice(2, 1, 2);
  const auto result = aliases.to_cpu(self).to(c10::kFloat).mm(weight.view({rows, columns}).t());
  return aliases.to_mps(result.to(self.scalar_type()));
}

}  // namespace simulated_mps
