#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace infeed {

// Simulates a device that consumes a given number of images per second, by
// arithmetic on times: from the times at which a batch was requested and
// delivered it computes until when the device is busy, and adds up how long it
// was idle. It neither waits nor reads a clock; a caller that returns late does
// not count as the device's waiting.
class PacedDevice {
 public:
  using Clock = std::chrono::steady_clock;

  // Requires: images_per_second > 0.
  explicit PacedDevice(double images_per_second)
      : seconds_of_image_(1 / images_per_second) {}

  // Returns when the next batch should be requested. Requires: asked <= came.
  Clock::time_point Use(Clock::time_point asked, Clock::time_point came,
                        std::int64_t images) {
    const Clock::duration step = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(seconds_of_image_ *
                                      static_cast<double>(images)));
    waited_ += came - asked;
    busy_ += step;
    free_ = free_.value_or(asked) + (came - asked) + step;
    return *free_;
  }

  // The share of its time that it waited for input; 0 before the first batch.
  [[nodiscard]] double input_wait() const {
    const Clock::duration all = waited_ + busy_;
    return all > Clock::duration::zero()
               ? std::chrono::duration<double>(waited_) / all
               : 0;
  }

 private:
  double seconds_of_image_;
  Clock::duration waited_{};
  Clock::duration busy_{};
  std::optional<Clock::time_point> free_;
};

}  // namespace infeed
