#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "trainer/device_loop_batch.h"
#include "trainer/infeed.h"
#include "trainer/optimizer.h"
#include "trainer/optimizer_options.h"
#include "trainer/outfeed.h"

namespace infeed {

// What a training loop needs of a model.
struct TrainedModel {
  // Logits of images [N, 3, H, W] in the step of this number.
  std::function<torch::Tensor(const torch::Tensor& images, std::int64_t step)>
      forward;
  std::vector<OptimizedParameter> parameters;  // those that learn
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
  [[nodiscard]] NamedTensors State() const { return optimizer_->State(); }

 private:
  // Of one step, scalars on the device: views of what is kept of the loop.
  struct Results {
    torch::Tensor loss;
    torch::Tensor top_1;
  };
  [[nodiscard]] torch::Tensor UploadRates(std::int64_t first_step,
                                          std::int64_t steps) const;
  void Step(std::int64_t step, const DeviceBatch& batch,
            const torch::Tensor& rate, Results results);

  TrainedModel model_;
  OptimizerOptions options_;
  std::int64_t classes_;
  torch::Device device_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace infeed
