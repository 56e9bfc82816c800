#include "trainer/model/device_use.h"

#include <string_view>

#include <fmt/format.h>

namespace infeed {
namespace {

std::string BesideCeiling(std::string_view unit, double value, double ceiling) {
  const std::string text = fmt::format("{:.4g} {}", value, unit);
  return ceiling > 0 ? fmt::format("{}, {:.0f} % of the {:.4g} measured", text,
                                   100 * value / ceiling, ceiling)
                     : text;
}

}  // namespace

DeviceUse& DeviceUse::operator+=(const DeviceUse& more) {
  loop_seconds += more.loop_seconds;
  busy_seconds += more.busy_seconds;
  host_syncs += more.host_syncs;
  loops += more.loops;
  operations += more.operations;
  bytes += more.bytes;
  return *this;
}

std::string DeviceUseText(const DeviceUse& use,
                          const DeviceCeilings& ceilings) {
  std::string text = fmt::format(
      "the device computed {:.1f} % of the time in loops; {}; at least {}",
      100 * use.busy_share(),
      BesideCeiling("TFLOP/s", use.tflops(), ceilings.tflops),
      BesideCeiling("GB/s", use.gb_per_second(), ceilings.gb_per_second));
  if (use.host_syncs > 0) {
    text += fmt::format("; the host waited for it {:.1f} times a loop",
                        use.syncs_per_loop());
  }
  return text;
}

}  // namespace infeed
