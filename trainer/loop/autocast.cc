#include "trainer/loop/autocast.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace infeed {
namespace {

#if TORCH_VERSION_MAJOR > 2 || \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)

bool IsEnabled(torch::DeviceType device) {
  return at::autocast::is_autocast_enabled(device);
}

void SetEnabled(torch::DeviceType device, bool enabled) {
  at::autocast::set_autocast_dtype(device, torch::kBFloat16);
  at::autocast::set_autocast_enabled(device, enabled);
}

#else

bool IsEnabled(torch::DeviceType device) {
  return device == torch::kCPU ? at::autocast::is_cpu_enabled()
                               : at::autocast::is_enabled();
}

void SetEnabled(torch::DeviceType device, bool enabled) {
  if (device == torch::kCPU) {
    at::autocast::set_autocast_cpu_dtype(torch::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(torch::kBFloat16);
    at::autocast::set_enabled(enabled);
  }
}

#endif

}  // namespace

AutocastScope::AutocastScope(torch::DeviceType device, bool enabled)
    : device_(device), before_(IsEnabled(device)) {
  at::autocast::increment_nesting();
  SetEnabled(device_, enabled);
}

AutocastScope::~AutocastScope() {
  // The weights' bfloat16 copies are kept for the scope's time only: the next
  // step has other weights.
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  SetEnabled(device_, before_);
}

}  // namespace infeed
