#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "preprocess/pixels/image_size.h"
#include "trainer/groups/device_group.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/step_loss.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/optimizer/loss_scaler.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

namespace infeed {

// A model as a training step uses it.
struct TrainedModel {
  // Sets the step of the next passes.
  std::function<void(std::int64_t step)> begin_step;
  // Network::Forward().
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  std::vector<OptimizedParameter> parameters;  // the trained ones
  NamedTensors statistics;                     // moving ones, float32
};

// The inputs of steps beside batches, on the device: a row or a number for each
// step, or those of one step. They depend only on the steps' numbers.
struct StepInputs {
  torch::Tensor rates;   // [steps] or scalar: learning rate
  torch::Tensor newest;  // [steps] or scalar: for MovingAverage::Update()
  torch::Tensor mixes;   // [steps, 7] or [7]; undefined: none

  // The i-th step's inputs, as views.
  [[nodiscard]] StepInputs Of(std::int64_t i) const;
};

// The results of a step, scalars on the device.
struct StepResults {
  torch::Tensor loss;
  torch::Tensor top_1;
  torch::Tensor counted;     // images that count, of the whole batch
  torch::Tensor votes = {};  // ranks on which an end was requested; undefined:
                             // a single process
  torch::Tensor loss_scale = {};  // LossScaler's; undefined: not scaled
  torch::Tensor skipped_steps = {};
};

// The weight of the live values in the average's update after a step (counted
// from 0); 0: no update then.
[[nodiscard]] double MovingAverageShare(std::int64_t step,
                                        const OptimizerOptions& options);

// The moving average of a model's tensors: parameters and moving statistics.
// Shares the tensors with the model and owns the averages, which start at the
// tensors' values. One thread at a time.
class MovingAverage {
 public:
  // Requires: float32 tensors. If live is empty, there is no average.
  explicit MovingAverage(NamedTensors live);

  // Sets the averages to the live values.
  void Restart();

  // average = average + newest * (live - average); newest is of one element, on
  // the device.
  void Update(const torch::Tensor& newest);

  // Under the names NAME/average, to be saved and restored in place.
  [[nodiscard]] NamedTensors State() const;

  // While it lives, the live tensors hold the averages.
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

// The training step: forward, backward and update, and its state beside the
// model. It copies nothing to the host and does not depend on host values that
// change from step to step, so that it can be captured once and replayed. One
// thread at a time.
//
// With a group it is one step of all its ranks, on their parts of one batch.
// Weights keep the same bits on all ranks; the moving statistics are those of a
// rank's own images until AverageStatistics().
class TrainStep {
 public:
  // group: of all ranks; must outlive the step; nullptr: a single process.
  TrainStep(TrainedModel model, const OptimizerOptions& options,
            std::int64_t classes, const torch::Device& device,
            DeviceGroup* group = nullptr);
  ~TrainStep();
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  // The inputs of `steps` steps from first_step on, computed on the host and
  // copied to the device together. image_size: of their images.
  [[nodiscard]] StepInputs Upload(std::int64_t first_step, std::int64_t steps,
                                  const ImageSize& image_size) const {
    return UploadTo(device_, first_step, steps, image_size);
  }
  // Upload() to another device.
  [[nodiscard]] StepInputs UploadTo(const torch::Device& device,
                                    std::int64_t first_step, std::int64_t steps,
                                    const ImageSize& image_size) const;

  // Sets LearningRateOptions' plateau_rate, the rate after past evaluations,
  // from the next Upload() on.
  void SetPlateauRate(double rate) {
    options_.learning_rate.plateau_rate = rate;
  }

  // From now on, steps also learn from a teacher's logits of their images.
  void SetTeacher(std::function<torch::Tensor(const torch::Tensor&)> logits) {
    teacher_ = std::move(logits);
  }
  [[nodiscard]] bool has_teacher() const { return teacher_ != nullptr; }

  // Sets the step of the next Run(): the model's random draws depend on it.
  void Begin(std::int64_t step) const { model_.begin_step(step); }

  // inputs: this step's. end_requested: counted in the ranks' votes; a captured
  // step keeps the value at its capture. On the CPU a step whose loss is not
  // finite updates no weight. Throws IoError when a rank is gone; the TrainStep
  // cannot be used any more then.
  StepResults Run(const DeviceBatch& batch, const StepInputs& inputs,
                  bool end_requested = false);

  // Drops the gradients and pending sums of a Run() that threw, so that the
  // step can run again. Not possible when a rank is gone.
  void Forget();

  // The images and the gradients of the step that updated no weight; empty
  // where there was no such step. Gradients are in the order of a backward
  // pass, the last layer's first.
  [[nodiscard]] NamedTensors RefusedImages() const;
  [[nodiscard]] NamedTensors RefusedGradients() const;

  // Replaces the moving statistics and their averages by the mean over all
  // ranks. Both are linear, so that it does not matter how often it is called.
  void AverageStatistics();

  // The tensors of a checkpoint other than the model's own.
  [[nodiscard]] NamedTensors State() const;

  // While the scope lives, the model has the averages of its weights and
  // statistics, if averages are kept.
  [[nodiscard]] MovingAverage::Scope UseAverages() const {
    return MovingAverage::Scope(average_);
  }
  // Restarts the averages from the current weights.
  void RestartAverages() { average_.Restart(); }

  [[nodiscard]] std::int64_t classes() const { return classes_; }

 private:
  class Exchange;

  [[nodiscard]] TrainBatch Prepare(const DeviceBatch& batch,
                                   const StepInputs& inputs) const;
  [[nodiscard]] torch::Tensor TeacherLogits(const torch::Tensor& images) const;
  StepResults Backward(const TrainBatch& batch, const BatchDivisors& divisors,
                       bool end_requested);
  [[nodiscard]] BatchDivisors DivisorsOf(const TrainBatch& batch) const;
  torch::Tensor Update(const torch::Tensor& rate, const torch::Tensor& refused);

  TrainedModel model_;
  OptimizerOptions options_;
  MixOptions mix_;
  std::int64_t classes_;
  torch::Device device_;
  StepLoss loss_;
  std::function<torch::Tensor(const torch::Tensor&)> teacher_;
  DeviceGroup* group_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<LossScaler> scaler_;
  MovingAverage average_;
  torch::Tensor refused_images_;        // of a step that updated nothing
  std::unique_ptr<Exchange> exchange_;  // from the first step on
};

}  // namespace infeed
