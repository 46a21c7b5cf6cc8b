// Which operators wait for the GPU, because their result's shape or a number depends on values. native_functions.yaml
// marks them by the tags dynamic_output_shape and data_dependent_output; x[mask] = values has none.
#pragma once

#include "arguments.h"
#include "record.h"

namespace simulated_mps {

inline bool is_mask(const std::optional<at::Tensor>& index) {
  return index.has_value() && index->defined() && index->is_mps() &&
      (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte);
}

inline int64_t masks_in(const Arguments& arguments) {
  int64_t masks = 0;
  for (const auto& index : arguments["indices"].toOptionalTensorVector()) masks += is_mask(index);
  return masks;
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
