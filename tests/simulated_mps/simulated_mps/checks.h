// A rule of rules.json or types.json, as the device asks it: which call it is about, and what is said.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "arguments.h"

namespace simulated_mps {

using Predicate = bool (*)(const Arguments&);

inline uint64_t bit(c10::ScalarType type) { return uint64_t{1} << static_cast<int>(type); }

struct Check {
  std::string text;
  bool is_error = true;  // otherwise the device computes wrong values
  int argument = -1;  // a tensor or a list of them, by position
  uint64_t types = 0;  // refused ones, a bit for each; 0: any
  bool on_cpu = false;  // refused there
  int option = -1;  // an argument by position, with the value that is refused
  c10::IValue value;
  Predicate when = nullptr;

  bool applies(const Arguments& arguments) const {
    if (argument >= 0 && !refuses(arguments.at(argument))) return false;
    if (option >= 0 && arguments.at(option) != value) return false;
    return when == nullptr || when(arguments);
  }

 private:
  bool refuses(const at::Tensor& tensor) const {
    return tensor.defined() && (types == 0 || (types & bit(tensor.scalar_type())) != 0) && (!on_cpu || tensor.is_cpu());
  }
  bool refuses(const c10::IValue& given) const {
    if (given.isTensor()) return refuses(given.toTensor());
    if (!given.isTensorList()) return false;
    for (const at::Tensor& tensor : given.toTensorVector())
      if (refuses(tensor)) return true;
    return false;
  }
};

}  // namespace simulated_mps
