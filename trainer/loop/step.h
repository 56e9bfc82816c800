#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "trainer/groups/device_group.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/mix.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// What a training step needs of a model.
struct TrainedModel {
  // Says which step the next passes belong to.
  std::function<void(std::int64_t step)> begin_step;
  // Logits of images [N, 3, H, W].
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  std::vector<OptimizedParameter> parameters;  // those that learn
  NamedTensors statistics;                     // moving ones, float32
};

// What steps are told, on the device: of many steps a row or a number each, of
// one step a row or a scalar. It is a function of the steps' numbers.
struct StepInputs {
  torch::Tensor rates;   // [steps] or scalar: learning rate
  torch::Tensor newest;  // [steps] or scalar: for MovingAverage::Update()
  torch::Tensor mixes;   // [steps, 7] or [7]; undefined: none

  // Of the i-th step; views.
  [[nodiscard]] StepInputs Of(std::int64_t i) const;
};

// What a step says, scalars on the device.
struct StepResults {
  torch::Tensor loss;
  torch::Tensor top_1;
  torch::Tensor counted;     // images that count, of the whole batch
  torch::Tensor votes = {};  // ranks asked to end; undefined: no other rank
};

// How much of the average an update keeps once `updates` are done (> 0): less
// at first, so that the initial weights are soon forgotten, as TensorFlow's
// ExponentialMovingAverage with a count of updates.
[[nodiscard]] double MovingAverageDecay(std::int64_t updates, double decay);

// The moving average of a model's tensors: parameters and moving statistics.
// Shares them with the model and owns the averages, which start at their
// values. One thread at a time.
class MovingAverage {
 public:
  // Requires: float32 tensors. None: there is no average.
  explicit MovingAverage(NamedTensors live);

  // The averages are the live values again.
  void Restart();

  // average = average + newest * (live - average); newest is of one element, on
  // the device.
  void Update(const torch::Tensor& newest);

  // Under the names NAME/average, to be saved and restored in place.
  [[nodiscard]] NamedTensors State() const;

  // Has the live tensors hold the averages while it lives.
  class Scope {
   public:
    explicit Scope(const MovingAverage& average);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const NamedTensors& live_;
    std::vector<torch::Tensor> kept_;
  };

 private:
  NamedTensors live_;
  std::vector<torch::Tensor> averages_;
};

// The training step: forward, backward and update, and what it keeps beside
// the model. Nothing in it reads anything back or depends on host values that
// change from step to step, so that it can be captured once and replayed. One
// thread at a time.
//
// With a group it is one step of all its ranks, on their parts of one batch.
// The ranks' weights stay the same bits; the moving statistics are those of a
// rank's own images until AverageStatistics().
class TrainStep {
 public:
  // group: of all ranks, and outlives it; nullptr: there is no other rank.
  TrainStep(TrainedModel model, const OptimizerOptions& options,
            std::int64_t classes, const torch::Device& device,
            DeviceGroup* group = nullptr);
  ~TrainStep();
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  // What `steps` steps from first_step on are told, worked out on the host and
  // copied to the device at once. image_size: of their images, pixels.
  [[nodiscard]] StepInputs Upload(std::int64_t first_step, std::int64_t steps,
                                  int image_size) const {
    return UploadTo(device_, first_step, steps, image_size);
  }
  // The same, to another device.
  [[nodiscard]] StepInputs UploadTo(const torch::Device& device,
                                    std::int64_t first_step, std::int64_t steps,
                                    int image_size) const;

  // Says which step the next Run() is: the model's random draws depend on it.
  void Begin(std::int64_t step) const { model_.begin_step(step); }

  // inputs: of this one step. end_asked: counted in the ranks' votes; a
  // captured step keeps that of its capture. On the CPU a step whose loss is
  // not finite updates no weight. Throws IoError when a rank is gone; the step
  // is of no use then.
  StepResults Run(const DeviceBatch& batch, const StepInputs& inputs,
                  bool end_asked = false);

  // The images and the gradients of the step that updated no weight; empty
  // where there was none. Gradients come in a backward pass's order, the last
  // layer's first.
  [[nodiscard]] NamedTensors RefusedImages() const;
  [[nodiscard]] NamedTensors RefusedGradients() const;

  // Has all ranks hold the mean of their moving statistics, and of the averages
  // of those. Both move linearly, so that it does not matter how often.
  void AverageStatistics();

  // What a checkpoint holds beside the model's own tensors.
  [[nodiscard]] NamedTensors State() const;

  // While the scope lives, the model has the averages of its weights and
  // statistics, where those are kept.
  [[nodiscard]] MovingAverage::Scope UseAverages() const {
    return MovingAverage::Scope(average_);
  }
  // From the weights at hand.
  void RestartAverages() { average_.Restart(); }

  [[nodiscard]] std::int64_t classes() const { return classes_; }

 private:
  class Exchange;

  [[nodiscard]] TrainBatch Prepare(const DeviceBatch& batch,
                                   const StepInputs& inputs) const;
  StepResults Backward(const TrainBatch& batch, bool end_asked);
  [[nodiscard]] torch::Tensor DivisorOf(const TrainBatch& batch) const;

  TrainedModel model_;
  OptimizerOptions options_;
  MixOptions mix_;
  std::int64_t classes_;
  torch::Device device_;
  DeviceGroup* group_;
  std::unique_ptr<Optimizer> optimizer_;
  MovingAverage average_;
  torch::Tensor refused_images_;        // of a step that updated nothing
  std::unique_ptr<Exchange> exchange_;  // from the first step on
};

}  // namespace infeed
