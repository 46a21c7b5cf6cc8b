// The arguments of a boxed call, by the names that PyTorch's list of operators gives them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string_view>

namespace simulated_mps {

class Arguments {
 public:
  Arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack) : schema_(op.schema()), stack_(stack) {}

  const c10::IValue& operator[](std::string_view name) const {
    const auto& arguments = schema_.arguments();
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].name() == name) return stack_[stack_.size() - arguments.size() + i];
    TORCH_INTERNAL_ASSERT(false, schema_.name(), " has no argument ", name);
  }

  const at::Tensor& tensor(std::string_view name) const { return (*this)[name].toTensor(); }
  c10::ScalarType type(std::string_view name) const { return tensor(name).scalar_type(); }
  bool is_given(std::string_view name) const { return (*this)[name].isTensor() && tensor(name).defined(); }

 private:
  const c10::FunctionSchema& schema_;
  const torch::jit::Stack& stack_;
};

}  // namespace simulated_mps
