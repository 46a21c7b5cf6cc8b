// What a program did on the simulated device, and which operators it may use there.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "checks.h"

namespace simulated_mps {

constexpr const char* kAnyDevices =
    "Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!";

// How often an operator reached the device, and what became of it there.
struct Operator {
  enum class Verdict { has_kernel, falls_back, missing };

  std::string name;
  Verdict verdict;  // this and the next three: of the chosen release
  std::vector<Check> checks;
  std::string mixed_text;  // what a tensor on the CPU gets to hear
  Types beyond_the_cpu;  // types with a kernel on MPS, but none on the CPU
  std::atomic<bool> may_wait{false};  // see waits.h
  std::atomic<int64_t> calls{0};

  explicit Operator(std::string name) : name(std::move(name)) {}
};

constexpr int kMacOS15_1 = 1501;  // its first number times 100 and its second

// Hears of what happened, such as "item" or "MISSING", and of the operator, where that says more.
using Listener = std::function<void(const std::string& event, const std::string& op)>;

template <typename Map>
typename Map::mapped_type value_or(const Map& map, const std::string& key, typename Map::mapped_type otherwise) {
  const auto found = map.find(key);
  return found == map.end() ? otherwise : found->second;
}

struct Record {
  std::mutex mutex;
  std::unordered_set<std::string> kernels;  // operators with a kernel in the chosen release
  std::unordered_set<std::string> always_on_cpu;  // hard-wired to the CPU there, whatever the variable says
  Rules rules;
  int release = 0;  // by its second number: 13 is 2.13
  int macos = 99 * 100;  // newer than all
  bool fallback = false;  // PYTORCH_ENABLE_MPS_FALLBACK
  std::string commit;  // of the real device's error text
  std::unordered_map<std::string, std::unique_ptr<Operator>> operators;
  std::shared_ptr<const Listener> listener;  // Python's, see listener.h
  std::atomic<int64_t> allocated{0}, peak{0};  // bytes

  // Operators are looked up by the address of their schema, which never changes: names are slow to make.
  Operator& find(const c10::OperatorHandle& handle) {
    static thread_local std::unordered_map<const void*, Operator*> known;
    auto*& found = known[&handle.schema()];
    if (found == nullptr) {
      found = &find(c10::toString(handle.operator_name()));
      found->may_wait = found->name == "aten::_index_put_impl_" || handle.hasTag(at::Tag::dynamic_output_shape) ||
          handle.hasTag(at::Tag::data_dependent_output);
    }
    return *found;
  }

  // The same operator for sparse tensors is counted apart.
  Operator& find_sparse(const c10::OperatorHandle& handle) {
    static thread_local std::unordered_map<const void*, Operator*> known;
    auto*& found = known[&handle.schema()];
    if (found == nullptr) found = &find(c10::toString(handle.operator_name()) + " (sparse)");
    return *found;
  }

  Operator& find(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto& found = operators[name];
    if (found == nullptr) {
      found = std::make_unique<Operator>(name);
      choose(*found);
    }
    return *found;
  }

  // Tell an operator what the chosen release makes of it.
  void choose(Operator& op) const {
    op.verdict = judge(op.name);
    op.checks = value_or(rules.checks, op.name, {});
    op.mixed_text = value_or(rules.mixed_texts, op.name, kAnyDevices);
    op.beyond_the_cpu = value_or(rules.beyond_the_cpu, op.name, 0);
  }

  void note(const std::string& event, const std::string& op = "") {
    std::shared_ptr<const Listener> told;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      told = listener;
    }
    if (told != nullptr) (*told)(event, op);  // without the lock: it waits for Python's
  }

  void allocate(int64_t bytes) {
    const auto now = allocated += bytes;
    auto before = peak.load();
    while (before < now && !peak.compare_exchange_weak(before, now)) {
    }
  }

  // By the rules alone; nothing is counted.
  Operator::Verdict judge(const std::string& name) const {
    if (kernels.count(name) != 0) return Operator::Verdict::has_kernel;
    const bool on_cpu = fallback || always_on_cpu.count(name) != 0;
    return on_cpu ? Operator::Verdict::falls_back : Operator::Verdict::missing;
  }
};

inline Record& record() {
  static auto* instance = new Record;  // never destroyed: tensors may outlive everything else
  return *instance;
}

// Tell that an operator does not support its arguments, where it does not; the caller raises the error.
inline bool is_taken(bool supported, const std::string& op) {
  if (!supported) record().note("refused", op);
  return supported;
}

// Count a call, and treat it as the real device does: texts of aten/src/ATen/mps/MPSFallback.mm.
inline void admit(Operator& op) {
  ++op.calls;
  if (op.verdict == Operator::Verdict::has_kernel) return;
  // MPS has a text of its own for them from 2.11 on, and never computes them on the CPU.
  const bool is_distributed = record().release > 10 && op.name.rfind("c10d::", 0) == 0;
  const bool falls_back = op.verdict == Operator::Verdict::falls_back && !is_distributed;
  record().note(falls_back ? "fell back" : "MISSING", op.name);
  if (falls_back)
    TORCH_WARN_ONCE(
        "The operator '", op.name, "' is not currently supported on the MPS backend and will fall back to run on the "
        "CPU. This may have performance implications.");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_distributed, "The distributed operator '", op.name, "' is not currently implemented for the MPS device. "
      "Please note, that distributed operators can not fall back to CPU");
  TORCH_CHECK_NOT_IMPLEMENTED(
      falls_back, "The operator '", op.name,
      "' is not currently implemented for the MPS device. If you want this op to be considered for addition please "
      "comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that resulted in missing op "
      "as well as commit hash ", record().commit,
      ". As a temporary fix, you can set the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as "
      "a fallback for this op. WARNING: this will be slower than running natively on MPS.");
}

}  // namespace simulated_mps
