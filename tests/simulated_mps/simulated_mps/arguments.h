// The arguments of a boxed call, by the names that PyTorch's list of operators gives them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string_view>

namespace simulated_mps {

inline int position_of(const c10::FunctionSchema& schema, std::string_view name) {
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name() == name) return static_cast<int>(i);
  TORCH_INTERNAL_ASSERT(false, schema.name(), " has no argument ", name);
}

class Arguments {
 public:
  Arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack) : schema_(op.schema()), stack_(stack) {}

  const c10::IValue& at(int position) const { return stack_[stack_.size() - schema_.arguments().size() + position]; }
  const c10::IValue& operator[](std::string_view name) const { return at(position_of(schema_, name)); }
  const at::Tensor& tensor(std::string_view name) const { return (*this)[name].toTensor(); }

 private:
  const c10::FunctionSchema& schema_;
  const torch::jit::Stack& stack_;
};

}  // namespace simulated_mps
