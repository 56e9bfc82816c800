#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// What a device did of a training, added up.
struct DeviceUse {
  // In loops, by the host's clock.
  double loop_seconds = 0;
  // Of these it computed: on a GPU by its own clock.
  double busy_seconds = 0;
  // How often the host waited for a GPU; a CPU is the host.
  std::int64_t host_syncs = 0;
  std::int64_t loops = 0;
  // Of the network, forward and back; a multiplication and its addition are
  // two.
  double operations = 0;
  // That the steps move to and from memory at the least.
  double bytes = 0;

  DeviceUse& operator+=(const DeviceUse& more);

  // A fraction, 0..1.
  [[nodiscard]] double busy_share() const;
  [[nodiscard]] double tflops() const;  // 1e12 operations a second
  [[nodiscard]] double gb_per_second() const;
  [[nodiscard]] double syncs_per_loop() const;
};

// The most that it does, measured; 0: not known.
struct DeviceCeilings {
  double tflops = 0;         // of a product of matrices
  double gb_per_second = 0;  // of a copy, bytes read and written counted
};

// "the device computed 98.2 % of the time in loops; 240 TFLOP/s, 31 % of the
// 780 measured; at least 2100 GB/s, 49 % of the 4300 measured; the host waited
// for it 1.0 times a loop". Without what is not known.
[[nodiscard]] std::string DeviceUseText(const DeviceUse& use,
                                        const DeviceCeilings& ceilings);

}  // namespace infeed
