// What PyTorch asks of any accelerator: a device guard, random generators, hooks. There is one device and no queue.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>
#include <cstring>
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

// A generator of device "mps". As there, its state is a seed and an offset (aten/src/ATen/mps/MPSGeneratorImpl.h); the
// numbers of a call come from a generator of the CPU that begins with both.
struct Generator final : c10::GeneratorImpl {
  Generator() : c10::GeneratorImpl(kDevice, c10::DispatchKeySet(c10::DispatchKey::MPS)) {}

  void set_current_seed(uint64_t seed) override {
    seed_ = seed;
    offset_ = 0;
  }
  void set_offset(uint64_t offset) override { offset_ = offset; }
  uint64_t get_offset() const override { return offset_; }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return seed_;
  }

  // The layout of the real device: 28 bytes of its engine, which mean nothing here, the seed, the offset.
  void set_state(const c10::TensorImpl& state) override {
    at::detail::check_rng_state(state);
    TORCH_CHECK(state.numel() == kBytes, "RNG state is wrong size");
    const auto* bytes = static_cast<const uint8_t*>(state.data());
    std::memcpy(&seed_, bytes + kEngine, sizeof(seed_));
    std::memcpy(&offset_, bytes + kEngine + sizeof(seed_), sizeof(offset_));
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    auto state = at::detail::empty_cpu({kBytes}, c10::kByte);
    auto* bytes = state.mutable_data_ptr<uint8_t>();
    std::memset(bytes, 0, kEngine);
    std::memcpy(bytes + kEngine, &seed_, sizeof(seed_));
    std::memcpy(bytes + kEngine + sizeof(seed_), &offset_, sizeof(offset_));
    return state.getIntrusivePtr();
  }

  // What the next call draws from; without an offset it draws what the CPU would.
  at::Generator next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto mixed = offset_ * 0x9E3779B97F4A7C15;
    offset_ += 4;  // numbers are made four at a time; how far the real device counts is not known
    return at::detail::createCPUGenerator(seed_ ^ mixed);
  }

 private:
  static constexpr int64_t kEngine = 28, kBytes = kEngine + 16;

  Generator* clone_impl() const override {
    auto* copy = new Generator;
    copy->seed_ = seed_;
    copy->offset_ = offset_;
    return copy;
  }

  uint64_t seed_ = c10::default_rng_seed_val, offset_ = 0;
};

inline at::Generator new_generator() {
  return at::make_generator<Generator>();
}

inline at::Generator next_numbers(const at::Generator& generator) {
  return static_cast<Generator*>(generator.unsafeGetGeneratorImpl())->next();
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
  bool isOnMacOSorNewer(unsigned major, unsigned minor) const override {
    return static_cast<int>(major * 100 + minor) <= record().macos;
  }
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
