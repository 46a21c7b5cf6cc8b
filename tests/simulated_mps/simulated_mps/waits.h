// Which operators wait for the GPU, because their result's shape or a number depends on values. native_functions.yaml
// marks them by the tags dynamic_output_shape and data_dependent_output; x[mask] = values has none.
#pragma once

#include <algorithm>

#include "arguments.h"
#include "record.h"

namespace simulated_mps {

inline bool is_mask(const c10::IValue& index) {
  if (!index.isTensor()) return false;
  const auto& tensor = index.toTensor();
  return tensor.defined() && tensor.is_mps() && (tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte);
}

// TorchScript gives them as any list.
inline int64_t masks_in(const Arguments& arguments) {
  const auto indices = arguments["indices"].toListRef();
  return std::count_if(indices.begin(), indices.end(), is_mask);
}

// As canDispatchToMaskedFill in aten/src/ATen/native/TensorAdvancedIndexing.h: a number needs no positions.
inline bool is_masked_fill(const Arguments& arguments) {
  const auto& values = arguments.tensor("values");
  return values.is_cpu() && values.numel() == 1 && !arguments["accumulate"].toBool();
}

inline bool waits(const Operator& op, const Arguments& arguments) {
  if (op.name == "aten::_index_put_impl_") return masks_in(arguments) > 0 && !is_masked_fill(arguments);
  if (op.name == "aten::index.Tensor" || op.name == "aten::index.Tensor_out") return masks_in(arguments) > 0;
  if (op.name == "aten::repeat_interleave.Tensor") return arguments["output_size"].isNone();
  return true;
}

inline void note_wait(const Operator& op, const Arguments& arguments) {
  if (op.may_wait && op.verdict == Operator::Verdict::has_kernel && waits(op, arguments)) record().note("wait", op.name);
}

}  // namespace simulated_mps
