// Pinned memory: ordinary memory of the CPU that knows itself to be pinned.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <mutex>
#include <unordered_set>

namespace simulated_mps {

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* data = bytes == 0 ? nullptr : c10::alloc_cpu(bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (data != nullptr) blocks_.insert(data);
    return {data, data, &release, c10::Device(c10::kCPU)};
  }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
  bool is_ours(const void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return blocks_.count(data) != 0;
  }

 private:
  static void release(void* data);

  std::mutex mutex_;
  std::unordered_set<const void*> blocks_;
};

inline PinnedAllocator& pinned_allocator() {
  static auto* instance = new PinnedAllocator;  // never destroyed, as the tensors may outlive it
  return *instance;
}

inline void PinnedAllocator::release(void* data) {
  if (data == nullptr) return;
  auto& allocator = pinned_allocator();
  {
    const std::lock_guard<std::mutex> lock(allocator.mutex_);
    allocator.blocks_.erase(data);
  }
  c10::free_cpu(data);
}

}  // namespace simulated_mps
