// What PyTorch asks of any accelerator: a device guard, random generators, hooks. There is one device and no queue.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>
#include <map>
#include <mutex>

#include "memory.h"
#include "pinned.h"

namespace simulated_mps {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kMPS; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  c10::Stream getDefaultStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
};

// A generator of device "mps" whose numbers come from one of the CPU.
struct Generator final : c10::GeneratorImpl {
  explicit Generator(c10::intrusive_ptr<c10::GeneratorImpl> inner)
      : c10::GeneratorImpl(kDevice, c10::DispatchKeySet(c10::DispatchKey::MPS)), inner(std::move(inner)) {}

  void set_current_seed(uint64_t seed) override { inner->set_current_seed(seed); }
  void set_offset(uint64_t offset) override { inner->set_offset(offset); }
  uint64_t get_offset() const override { return inner->get_offset(); }
  uint64_t current_seed() const override { return inner->current_seed(); }
  uint64_t seed() override { return inner->seed(); }
  void set_state(const c10::TensorImpl& state) override { inner->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner->get_state(); }

  c10::intrusive_ptr<c10::GeneratorImpl> inner;

 private:
  Generator* clone_impl() const override { return new Generator(inner->clone()); }
};

inline at::Generator new_generator() {
  return at::make_generator<Generator>(at::detail::createCPUGenerator().getIntrusivePtr());
}

inline const at::Generator& default_generator() {
  static auto* instance = new at::Generator(new_generator());
  return *instance;
}

// torch.mps.Event. Work is done when a call returns, so an event holds the time of its recording.
class Events {
 public:
  uint32_t acquire(bool timed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_[++last_] = {timed, {}};
    return last_;
  }
  void release(uint32_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.erase(id);
  }
  void record(uint32_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.at(id).recorded = Clock::now();
  }
  double milliseconds(uint32_t start, uint32_t end) {  // between two recordings
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto &first = events_.at(start), &second = events_.at(end);
    TORCH_CHECK(first.timed && second.timed, "Events were not created with argument 'enable_timing=True'");
    return std::chrono::duration<double, std::milli>(second.recorded - first.recorded).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    bool timed;
    Clock::time_point recorded;
  };
  std::mutex mutex_;
  std::map<uint32_t, Event> events_;
  uint32_t last_ = 0;
};

inline Events& events() {
  static auto* instance = new Events;
  return *instance;
}

struct Hooks final : at::MPSHooksInterface {
  Hooks() = default;
  explicit Hooks(at::MPSHooksArgs) {}
  void init() const override {}
  bool hasMPS() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isOnMacOSorNewer(unsigned, unsigned) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::Allocator* getMPSDeviceAllocator() const override { return &allocator(); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  bool isPinnedPtr(const void* data) const override { return pinned_allocator().is_ours(data); }
  void deviceSynchronize() const override {}
  void emptyCache() const override {}
  size_t getCurrentAllocatedMemory() const override { return record().allocated; }
  size_t getDriverAllocatedMemory() const override { return record().allocated; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return default_generator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return new_generator(); }
  uint32_t acquireEvent(bool timed) const override { return events().acquire(timed); }
  void releaseEvent(uint32_t id) const override { events().release(id); }
  void recordEvent(uint32_t id) const override { events().record(id); }
  void waitForEvent(uint32_t) const override {}
  void synchronizeEvent(uint32_t) const override {}
  bool queryEvent(uint32_t) const override { return true; }
  double elapsedTimeOfEvents(uint32_t start, uint32_t end) const override { return events().milliseconds(start, end); }
  // torch.mps.profiler writes signposts for Xcode's Instruments, which nothing reads here.
  void profilerStartTrace(const std::string&, bool) const override {}
  void profilerStopTrace() const override {}
};

}  // namespace simulated_mps
