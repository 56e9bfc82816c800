#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include "pipeline/memory/batch.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/device_loop.h"
#include "trainer/loop/step.h"
#include "trainer/results/eval_sums.h"

namespace infeed {

// A model on a device, as DevicePasses use it.
struct DeviceModel {
  TrainStep& step;
  // Network::Forward().
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  // The generators of a step's draws, beside LibTorch's default generator.
  std::function<std::vector<at::Generator>()> generators;
  torch::Device device;
  DeviceOptions options;
  double label_smoothing = 0;
  bool uses_space_to_depth = false;  // the network's
};

// Passes batches through the model on a device: operation by operation, or as
// CUDA graphs. One thread at a time.
class DevicePasses {
 public:
  virtual ~DevicePasses() = default;

  // DeviceLoop::Hold().
  [[nodiscard]] virtual std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) = 0;
  // See DeviceLoop::Train() and Evaluate(). Require: the model is in training
  // mode for Train(), in evaluation mode for Evaluate().
  virtual std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                             Infeed& infeed, Outfeed& outfeed) = 0;
  [[nodiscard]] virtual EvalSums Evaluate(Infeed& infeed) = 0;

  // Text to add to the device's name: ", CUDA graphs".
  [[nodiscard]] virtual std::string Describe() const = 0;
  [[nodiscard]] virtual BatchMemory batch_memory() const = 0;
  [[nodiscard]] virtual std::int64_t host_syncs() const = 0;
  // The first steps that are slower than the rest.
  [[nodiscard]] virtual int warm_up_steps() const = 0;
};

// DeviceLoop::Train() on the CPU, where a step's results are available when it
// returns.
std::int64_t TrainEagerly(TrainStep& step, std::int64_t first_step,
                          std::int64_t steps, const BatchUnpacker& unpacker,
                          Infeed& infeed, Outfeed& outfeed);

// Eager LibTorch on the CPU. The model's references must outlive it.
[[nodiscard]] std::unique_ptr<DevicePasses> MakeEagerPasses(
    const DeviceModel& model);

// Passes on a GPU. Throws UsageError in a build without CUDA.
[[nodiscard]] std::unique_ptr<DevicePasses> MakeCudaPasses(
    const DeviceModel& model);

}  // namespace infeed
