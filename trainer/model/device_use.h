#pragma once

#include <cstdint>
#include <string>

#include "base/ratio.h"

namespace infeed {

// Time and work of a device in a training run, summed up.
struct DeviceUse {
  // Time in loops, by the host's clock.
  double loop_seconds = 0;
  // The part of it in which the device computed; on a GPU by the GPU's clock.
  double busy_seconds = 0;
  // How often the host waited for the GPU; 0 on a CPU.
  std::int64_t host_syncs = 0;
  std::int64_t loops = 0;
  // Floating-point operations of the network, forward and backward; a
  // multiply-add counts as two.
  double operations = 0;
  // Lower bound of the bytes that the steps moved to and from memory.
  double bytes = 0;

  DeviceUse& operator+=(const DeviceUse& more);

  // A fraction, 0..1.
  [[nodiscard]] double busy_share() const {
    return Share(busy_seconds, loop_seconds);
  }
  [[nodiscard]] double tflops() const {  // 1e12 operations a second
    return Ratio(operations, loop_seconds) / 1e12;
  }
  [[nodiscard]] double gb_per_second() const {
    return Ratio(bytes, loop_seconds) / 1e9;
  }
  [[nodiscard]] double syncs_per_loop() const {
    return Ratio(static_cast<double>(host_syncs), static_cast<double>(loops));
  }
};

// The highest speeds measured on the device; 0: not known.
struct DeviceCeilings {
  double tflops = 0;         // of a matrix product
  double gb_per_second = 0;  // of a copy, bytes read and written counted
};

// "the device computed 98.2 % of the time in loops; 240 TFLOP/s, 31 % of the
// 780 measured; at least 2100 GB/s, 49 % of the 4300 measured; the host waited
// for it 1.0 times a loop". Unknown values are left out.
[[nodiscard]] std::string DeviceUseText(const DeviceUse& use,
                                        const DeviceCeilings& ceilings);

}  // namespace infeed
