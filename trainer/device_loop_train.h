#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "trainer/device_loop_average.h"
#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_mix.h"
#include "trainer/infeed.h"
#include "trainer/optimizer.h"
#include "trainer/optimizer_options.h"
#include "trainer/outfeed.h"

namespace infeed {

// What a training loop needs of a model.
struct TrainedModel {
  // Says which step the next passes belong to.
  std::function<void(std::int64_t step)> begin_step;
  // Logits of images [N, 3, H, W].
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  std::vector<OptimizedParameter> parameters;  // those that learn
  NamedTensors statistics;                     // moving ones, float32
};

// The training side of the device loop: forward, backward and update of many
// steps. What a step is told, its rate and the like, is a function of its
// number, worked out on the host before the loop and copied to the device at
// once; inside, nothing is read back. One thread at a time.
class TrainLoop {
 public:
  TrainLoop(TrainedModel model, const OptimizerOptions& options,
            std::int64_t classes, const torch::Device& device);

  // DeviceLoop::Train().
  std::int64_t Run(std::int64_t first_step, std::int64_t steps,
                   const BatchUnpacker& unpacker, Infeed& infeed,
                   Outfeed& outfeed);

  // What a checkpoint holds beside the model's own tensors.
  [[nodiscard]] NamedTensors State() const;

  // While the scope lives, the model has the averages of its weights and
  // statistics, where those are kept.
  [[nodiscard]] MovingAverage::Scope UseAverages() const {
    return MovingAverage::Scope(average_);
  }
  // From the weights at hand.
  void RestartAverages() { average_.Restart(); }

 private:
  // What the steps of a loop are told, a row or a number each.
  struct StepInputs {
    torch::Tensor rates;   // [steps]
    torch::Tensor newest;  // [steps]: for MovingAverage::Update()
    torch::Tensor mixes;   // [steps, 7]; undefined: none
  };
  // Of one step, scalars on the device.
  struct StepResults {
    torch::Tensor loss;
    torch::Tensor top_1;
  };
  [[nodiscard]] StepInputs Upload(std::int64_t first_step, std::int64_t steps,
                                  int image_size) const;
  [[nodiscard]] TrainBatch Prepare(const DeviceBatch& batch,
                                   const StepInputs& inputs,
                                   std::int64_t i) const;
  StepResults Backward(const TrainBatch& batch);
  StepResults Step(const TrainBatch& batch, const StepInputs& inputs,
                   std::int64_t i);

  TrainedModel model_;
  OptimizerOptions options_;
  MixOptions mix_;
  std::int64_t classes_;
  torch::Device device_;
  std::unique_ptr<Optimizer> optimizer_;
  MovingAverage average_;
};

}  // namespace infeed
