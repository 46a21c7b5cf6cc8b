// Which arguments the real device's kernels refuse: the conditions that rules.json names, and their use.
#pragma once

#include <string>
#include <unordered_map>

#include "checks.h"
#include "record.h"

namespace simulated_mps {

// ---- Conditions -----------------------------------------------------------------------------------------------------

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

// MPS wants the factors as real numbers.
inline bool has_complex_factor(const Arguments& arguments) {
  for (const auto* name : {"alpha", "beta"}) {
    const auto factor = arguments[name].toScalar();
    if (factor.isComplex() && factor.toComplexDouble().imag() != 0) return true;
  }
  return false;
}

inline bool has_over_four_dims(const Arguments& arguments) {
  return arguments["dim"].toSymIntVector().size() > 4;
}

inline bool is_complex64(const Arguments& arguments) {
  return arguments.tensor("out").scalar_type() == c10::kComplexFloat;
}

inline const std::unordered_map<std::string, Predicate> conditions{
    {"grows_and_shrinks", grows_and_shrinks},
    {"shrinks_unevenly", shrinks_unevenly},
    {"grows_unevenly", grows_unevenly},
    {"is_wrong_maximum", is_wrong_maximum},
    {"has_complex_factor", has_complex_factor},
    {"has_over_four_dims", has_over_four_dims},
    {"is_complex64", is_complex64},
};

inline const std::unordered_map<std::string, Outcome> outcomes{
    {"RuntimeError", Outcome::error},
    {"NotImplementedError", Outcome::not_implemented},
    {"wrong", Outcome::wrong_values},
    {"fallback", Outcome::fallback},
};

// ---- Their use ------------------------------------------------------------------------------------------------------

// A rule as Python passes it, with names for what has a position here.
struct Rule {
  std::string op, text, outcome, argument;
  std::vector<c10::ScalarType> types;
  bool on_cpu;
  std::string option, value, when;
};

inline c10::IValue value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? c10::IValue(int64_t{std::stoi(text)}) : c10::IValue(text);
}

// Return nothing where this PyTorch does not have the operator.
inline std::optional<Check> check_of(const Rule& rule) {
  const auto dot = rule.op.find('.');
  const auto op = c10::Dispatcher::singleton().findSchema(
      {rule.op.substr(0, dot), dot == std::string::npos ? "" : rule.op.substr(dot + 1)});
  if (!op.has_value()) return std::nullopt;
  Check check{rule.text, outcomes.at(rule.outcome)};
  if (!rule.argument.empty()) check.argument = position_of(op->schema(), rule.argument);
  for (const auto type : rule.types) check.types |= bit(type);
  check.on_cpu = rule.on_cpu;
  if (!rule.option.empty()) check.option = position_of(op->schema(), rule.option);
  if (!rule.option.empty()) check.value = value_of(rule.value);
  if (!rule.when.empty()) check.when = conditions.at(rule.when);
  return check;
}

// Refuse the arguments that the real device refuses; tell of those with which it computes wrong values, or on the CPU.
inline void obey(const Operator& op, const Arguments& arguments) {
  for (const auto& check : op.checks) {
    if (!check.applies(arguments)) continue;
    const bool refuses = check.outcome == Outcome::error || check.outcome == Outcome::not_implemented;
    record().note(
        refuses ? "refused" : check.outcome == Outcome::fallback ? "fell back" : "wrong values", op.name);
    TORCH_CHECK_NOT_IMPLEMENTED(check.outcome != Outcome::not_implemented, check.text);
    TORCH_CHECK(!refuses, check.text);
    TORCH_WARN(check.text);
  }
}

}  // namespace simulated_mps
