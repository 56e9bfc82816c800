#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <c10/core/Device.h>

#include "trainer/log/operations.h"

namespace infeed {

// Records with LibTorch's profiler, the part of it that is called Kineto: the
// host's operations in every LibTorch, a GPU's work in one built with CUPTI.
// The first kMostSeconds of a record only, since Kineto keeps a few hundred
// bytes for each operation, and has no limit of its own.
class KinetoRecorder final : public DeviceRecorder {
 public:
  static constexpr std::chrono::seconds kMostSeconds{15};

  explicit KinetoRecorder(const c10::Device& device) : device_(device) {}
  ~KinetoRecorder() override { (void)End(); }

  // Call it in the device's thread before each step. Costs the test of a flag
  // while nothing is recorded.
  void BeforeStep() {
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kEnding ||
        (state == State::kRecording &&
         TraceLog::Clock::now() - begin_.time > kMostSeconds)) {
      Stop();
    }
  }

  void Begin() override;
  [[nodiscard]] bool RequestEnd() override;
  [[nodiscard]] DeviceRecord End() override;

 private:
  enum class State { kIdle, kRecording, kEnding };

  // A moment on the trace's clock and on Kineto's.
  struct Moment {
    TraceLog::Clock::time_point time;
    std::int64_t unix_ns = 0;
  };

  [[nodiscard]] static Moment ReadClocks();
  [[nodiscard]] DeviceRecord Collect() const;
  void Stop();

  const c10::Device device_;
  std::atomic<State> state_{State::kIdle};
  Moment begin_;
  std::uint64_t thread_ = 0;  // the device's, as LibTorch numbers it
  DeviceRecord record_;       // complete while kIdle
};

}  // namespace infeed
