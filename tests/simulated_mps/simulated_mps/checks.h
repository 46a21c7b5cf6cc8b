// A rule of rules.json as the device asks it: which call it is about, and what is said.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "arguments.h"

namespace simulated_mps {

using Predicate = bool (*)(const Arguments&);
using Types = uint64_t;  // a bit for each

inline Types bit(c10::ScalarType type) { return Types{1} << static_cast<int>(type); }

enum class Outcome { error, not_implemented, wrong_values, fallback };

struct Check {
  std::string text;
  Outcome outcome = Outcome::error;
  int argument = -1;  // a tensor or a list of them, by position
  Types types = 0;  // refused ones; 0: any
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

// By operator, for the chosen release and macOS.
struct Rules {
  std::unordered_map<std::string, std::vector<Check>> checks;
  std::unordered_map<std::string, std::string> mixed_texts;  // where it is not that of the most
  std::unordered_map<std::string, Types> beyond_the_cpu;  // with a kernel on MPS, but none on the CPU
};

}  // namespace simulated_mps
