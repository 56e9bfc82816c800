#include "trainer/loop/device.h"

#include <algorithm>
#include <thread>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include "base/count_text.h"
#include "base/error.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/loop/device_loop.h"

namespace infeed {
namespace {

#ifdef INFEED_CUDA
constexpr const char* kNoGpu =
    "device is cuda, but no NVIDIA GPU is found: check nvidia-smi, or "
    "give --device cpu";
#else
constexpr const char* kNoGpu =
    "device is cuda, but this is a CPU build: build with ./dev build cuda, or "
    "give --device cpu";
#endif

torch::Device CudaDevice(int index) {
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (count == 0) {
    throw UsageError(kNoGpu);
  }
  if (index >= count) {
    throw UsageError("device is cuda:" + std::to_string(index) +
                     ", but there are " + std::to_string(count) + " GPUs");
  }
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(index)};
}

#if TORCH_VERSION_MAJOR > 2 || \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)

bool IsEnabled(torch::DeviceType device) {
  return at::autocast::is_autocast_enabled(device);
}

void SetEnabled(torch::DeviceType device, torch::ScalarType type,
                bool enabled) {
  at::autocast::set_autocast_dtype(device, type);
  at::autocast::set_autocast_enabled(device, enabled);
}

#else

bool IsEnabled(torch::DeviceType device) {
  return device == torch::kCPU ? at::autocast::is_cpu_enabled()
                               : at::autocast::is_enabled();
}

void SetEnabled(torch::DeviceType device, torch::ScalarType type,
                bool enabled) {
  if (device == torch::kCPU) {
    at::autocast::set_autocast_cpu_dtype(type);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(type);
    at::autocast::set_enabled(enabled);
  }
}

#endif

}  // namespace

int SetThreads(int threads) {
  if (threads < 0) {
    throw UsageError("the device's threads are " + std::to_string(threads) +
                     ": give 0 for one thread per core, or a positive number");
  }
  const int chosen =
      threads > 0 ? threads
                  : static_cast<int>(std::thread::hardware_concurrency());
  at::set_num_threads(std::max(1, chosen));
  return at::get_num_threads();
}

torch::Device ParseDevice(const std::string& name) {
  if (name == "cpu" || (name == "auto" && !torch::cuda::is_available())) {
    return torch::kCPU;
  }
  if (name == "cuda" || name == "auto") {
    return CudaDevice(0);
  }
  const std::string number = name.starts_with("cuda:") ? name.substr(5) : "";
  if (number.empty() || number.size() > 3 ||
      number.find_first_not_of("0123456789") != std::string::npos) {
    throw UsageError("device is '" + name +
                     "': give auto, cpu, cuda or cuda:N");
  }
  return CudaDevice(std::stoi(number));
}

bool IsGpu(const std::string& device) { return ParseDevice(device).is_cuda(); }

std::string DeviceOfRank(const std::string& device, const RankPlace& place) {
  const bool is_open = device == "auto" || device == "cuda";
  if (place.local_world_size == 1 || !is_open || !IsGpu(device)) {
    return device;
  }
  const bool has_its_own = torch::cuda::device_count() == 1;
  return "cuda:" + std::to_string(has_its_own ? 0 : place.local_rank);
}

std::string TorchVersion() { return TORCH_VERSION; }

std::string DescribeDevices(const std::string& device) {
  const torch::Device chosen = ParseDevice(device);
  if (chosen.is_cuda()) {
    return chosen.str() + ", one of " +
           CountText(torch::cuda::device_count(), "GPU");
  }
  return "cpu, " + CountText(SetThreads(0), "thread") + " of LibTorch, " +
         (CpuHasBfloat16() ? "units for bfloat16" : "no units for bfloat16");
}

bool CpuHasBfloat16() {
#if defined(__x86_64__)
  // The builtins also check that the operating system saves the registers.
  return __builtin_cpu_supports("amx-bf16") != 0 ||
         __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

std::string CpuBfloat16Fault() {
  try {
    const auto type = torch::TensorOptions(torch::kBFloat16);
    const torch::Tensor images = torch::ones({1, 8, 8, 8}, type);
    const torch::Tensor weights =
        torch::ones({8, 8, 3, 3}, type.requires_grad(true));
    torch::conv2d(images, weights).sum().backward();
    return "";
  } catch (const std::exception& error) {
    return ErrorText(error);
  }
}

torch::ScalarType ScalarTypeOf(Precision precision) {
  switch (precision) {
    case Precision::kBfloat16:
      return torch::kBFloat16;
    case Precision::kFloat16:
      return torch::kHalf;
    case Precision::kFloat32:
      break;
  }
  return torch::kFloat;
}

// LibTorch takes 16-bit types only, also where it casts to none.
AutocastScope::AutocastScope(torch::DeviceType device, Precision precision)
    : device_(device),
      type_(Has16Bits(precision) ? ScalarTypeOf(precision) : torch::kBFloat16),
      before_(IsEnabled(device)) {
  at::autocast::increment_nesting();
  SetEnabled(device_, type_, Has16Bits(precision));
}

AutocastScope::~AutocastScope() {
  // The weights' 16-bit copies are kept only within the scope: the next step
  // has other weights.
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  SetEnabled(device_, type_, before_);
}

}  // namespace infeed
