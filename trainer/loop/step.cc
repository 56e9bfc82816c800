#include "trainer/loop/step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <ATen/ATen.h>

#include "trainer/groups/gradient_buckets.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/network/loss.h"
#include "trainer/optimizer/pass.h"

namespace infeed {
namespace {

NamedTensors AveragedTensors(const TrainedModel& model,
                             const OptimizerOptions& options) {
  NamedTensors tensors;
  if (options.moving_average_decay > 0) {
    for (const OptimizedParameter& parameter : model.parameters) {
      tensors.emplace_back(parameter.name, parameter.weight);
    }
    tensors.insert(tensors.end(), model.statistics.begin(),
                   model.statistics.end());
  }
  return tensors;
}

// A number for each step of a loop, on the device.
torch::Tensor UploadNumbers(
    std::int64_t first_step, std::int64_t steps, const torch::Device& device,
    const std::function<double(std::int64_t step)>& number) {
  torch::Tensor numbers = torch::empty({steps}, torch::kFloat);
  auto* data = numbers.data_ptr<float>();
  for (std::int64_t i = 0; i < steps; ++i) {
    data[i] = static_cast<float>(number(first_step + i));
  }
  return numbers.to(device);
}

// Always false on a GPU, where the host does not wait for a step's results.
bool IsSeenNotFinite(const torch::Tensor& loss) {
  return loss.is_cpu() && !std::isfinite(*loss.data_ptr<float>());
}

void AddResults(StepResults& sums, const torch::Tensor& loss,
                const torch::Tensor& top_1) {
  const torch::NoGradGuard no_grad;
  sums.loss.add_(loss);
  sums.top_1.add_(top_1);
}

}  // namespace

StepInputs StepInputs::Of(std::int64_t i) const {
  return {.rates = rates[i],
          .newest = newest[i],
          .mixes = mixes.defined() ? mixes[i] : torch::Tensor()};
}

double MovingAverageShare(std::int64_t step, const OptimizerOptions& options) {
  const int every = options.moving_average_every;
  if ((step + 1) % every != 0) {
    return 0;
  }
  const std::int64_t updates = (step + 1) / every;
  const auto n = static_cast<double>(updates);
  switch (options.moving_average_warmup) {
    case AverageWarmup::kRising:
      // Less is kept at first, so that the initial weights lose weight soon, as
      // in TensorFlow's ExponentialMovingAverage with a count of updates.
      return 1 - std::min(options.moving_average_decay, (1 + n) / (10 + n));
    case AverageWarmup::kFollow:
      // The first average after the warm-up is a copy, too.
      return updates <= WarmupSteps(options.learning_rate) / every + 1
                 ? 1
                 : 1 - options.moving_average_decay;
    case AverageWarmup::kNone:
      break;
  }
  return 1 - options.moving_average_decay;
}

MovingAverage::MovingAverage(NamedTensors live) : live_(std::move(live)) {
  for (const auto& [name, tensor] : live_) {
    averages_.push_back(tensor.detach().clone());
  }
}

void MovingAverage::Restart() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    averages_[i].copy_(live_[i].second);
  }
}

void MovingAverage::Update(const torch::Tensor& newest) {
  if (newest.is_cpu() && *newest.data_ptr<float>() == 0) {
    return;
  }
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    averages_[i].lerp_(live_[i].second, newest);
  }
}

NamedTensors MovingAverage::State() const {
  NamedTensors state;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    state.emplace_back(live_[i].first + std::string(kAverageSuffix),
                       averages_[i]);
  }
  return state;
}

MovingAverage::Scope::Scope(const MovingAverage& average)
    : live_(average.live_) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    torch::Tensor live = live_[i].second;
    kept_.push_back(live.detach().clone());
    live.copy_(average.averages_[i]);
  }
}

MovingAverage::Scope::~Scope() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    torch::Tensor live = live_[i].second;
    live.copy_(kept_[i]);
  }
}

// Exchanges a training step's gradients and results with the other ranks. The
// gradient is that of the mean over the whole batch: each rank divides its
// images' losses by the size of the whole batch, and if some slots did not
// count, the sums are scaled up afterwards. If images have weights, one factor
// is not enough: the ranks add up their divisors first.
//
// Every rank makes the same calls for each step, even if none of its images
// count. Not to be used again once a rank is gone. One thread at a time.
class TrainStep::Exchange {
 public:
  // The group must outlive it. Other requirements: see GradientBuckets.
  Exchange(const std::vector<OptimizedParameter>& parameters,
           DeviceGroup& group)
      : group_(group), buckets_(parameters, group) {}

  // The size of the whole batch, for a rank of `slots` images.
  [[nodiscard]] std::int64_t BatchSize(std::int64_t slots) const {
    return slots * group_.size();
  }
  // The sum of two scalars of all ranks, float32. Throws as Finish().
  [[nodiscard]] BatchDivisors Sum(const BatchDivisors& own);

  // Call it before the last backward pass. own: this rank's results, loss and
  // top_1 divided by a divisor.
  void Begin(const StepResults& own, bool end_requested);
  // Call it after that pass, with the same divisor of images on all ranks.
  // Throws IoError when a rank is gone.
  StepResults Finish(const torch::Tensor& divisor);

 private:
  DeviceGroup& group_;
  GradientBuckets buckets_;
  torch::Tensor sums_;  // loss, top-1, counted, votes; float64
  std::unique_ptr<DeviceGroup::Pending> pending_;
};

BatchDivisors TrainStep::Exchange::Sum(const BatchDivisors& own) {
  const torch::Tensor sums =
      torch::stack({own.images, own.loss}).to(torch::kDouble);
  group_.Sum(sums);
  const torch::Tensor rounded = sums.to(torch::kFloat);
  return {.images = rounded[0], .loss = rounded[1]};
}

void TrainStep::Exchange::Begin(const StepResults& own, bool end_requested) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor vote =
      torch::full({}, end_requested ? 1.0 : 0.0, own.loss.options());
  sums_ =
      torch::stack({own.loss, own.top_1, own.counted, vote}).to(torch::kDouble);
  pending_ = group_.BeginSum(sums_);
  buckets_.Arm();
}

StepResults TrainStep::Exchange::Finish(const torch::Tensor& divisor) {
  const torch::NoGradGuard no_grad;
  buckets_.Finish();
  std::exchange(pending_, nullptr)->Wait();
  const torch::Tensor factor =
      divisor.to(torch::kDouble).div(sums_[2].clamp_min(1));
  // On the CPU the host can check whether the factor is 1; a GPU multiplies by
  // 1.
  if (!factor.is_cpu() || *factor.data_ptr<double>() != 1) {
    buckets_.Scale(factor.to(torch::kFloat));
  }
  return {.loss = sums_[0].mul(factor).to(torch::kFloat),
          .top_1 = sums_[1].mul(factor).to(torch::kFloat),
          .counted = sums_[2].to(torch::kFloat),
          .votes = sums_[3].to(torch::kFloat)};
}

TrainStep::TrainStep(TrainedModel model, const OptimizerOptions& options,
                     std::int64_t classes, const torch::Device& device,
                     DeviceGroup* group)
    : model_(std::move(model)),
      options_(options),
      mix_{.mixup_alpha = options.mixup_alpha,
           .cutmix_alpha = options.cutmix_alpha,
           .seed = options.seed},
      classes_(classes),
      device_(device),
      loss_(options.loss, options.distill, device),
      group_(group),
      optimizer_(MakeOptimizer(options, model_.parameters)),
      average_(AveragedTensors(model_, options)) {
  if (options.loss_scale) {
    scaler_.emplace(*options.loss_scale, device);
  }
}

TrainStep::~TrainStep() = default;

NamedTensors TrainStep::State() const {
  NamedTensors state = optimizer_->State();
  const auto append = [&state](const NamedTensors& more) {
    state.insert(state.end(), more.begin(), more.end());
  };
  append(average_.State());
  if (scaler_) {
    append(scaler_->State());
  }
  return state;
}

StepInputs TrainStep::UploadTo(const torch::Device& device,
                               std::int64_t first_step, std::int64_t steps,
                               const ImageSize& image_size) const {
  StepInputs inputs;
  inputs.rates =
      UploadNumbers(first_step, steps, device, [this](std::int64_t step) {
        return LearningRate(step, options_.learning_rate);
      });
  inputs.newest = UploadNumbers(
      first_step, steps, device,
      [this](std::int64_t step) { return MovingAverageShare(step, options_); });
  if (mix_.any()) {
    inputs.mixes = UploadMixes(first_step, steps, image_size, mix_, device);
  }
  return inputs;
}

TrainBatch TrainStep::Prepare(const DeviceBatch& batch,
                              const StepInputs& inputs) const {
  TrainBatch prepared = {
      .images = batch.images,
      .labels = batch.labels,
      .counted = CountedSlots(batch.labels, batch.weights, classes_)};
  return inputs.mixes.defined() ? Mixed(std::move(prepared), inputs.mixes)
                                : prepared;
}

// The results from the sums over the whole batch, of all ranks.
BatchDivisors TrainStep::DivisorsOf(const TrainBatch& batch) const {
  const torch::NoGradGuard no_grad;
  if (!loss_.weighs_images(batch)) {
    const torch::Tensor images =
        exchange_ ? torch::full({},
                                static_cast<double>(
                                    exchange_->BatchSize(batch.labels.size(0))),
                                torch::device(device_).dtype(torch::kFloat))
                  : CountSlots(batch.counted);
    return {.images = images, .loss = images};
  }
  BatchDivisors sums = {.images = batch.counted.sum(),
                        .loss = loss_.SumWeights(batch)};
  if (exchange_) {
    sums = exchange_->Sum(sums);
  }
  // All weights may be 0.
  return {.images = sums.images.clamp_min(1),
          .loss = torch::where(sums.loss.gt(0), sums.loss,
                               torch::ones_like(sums.loss))};
}

torch::Tensor TrainStep::TeacherLogits(const torch::Tensor& images) const {
  const torch::NoGradGuard no_grad;
  return teacher_ ? teacher_(images) : torch::Tensor();
}

// Computes loss and top-1 of the batch, and the gradients of the loss. The
// batch may pass through the model in parts, whose gradients add up to those of
// the whole.
StepResults TrainStep::Backward(const TrainBatch& batch,
                                const BatchDivisors& divisors,
                                bool end_requested) {
  const std::int64_t size = batch.labels.size(0);
  const std::int64_t parts =
      std::min<std::int64_t>(options_.accumulation_steps, size);
  StepResults sums = {.loss = torch::zeros({}, torch::device(device_)),
                      .top_1 = torch::zeros({}, torch::device(device_)),
                      .counted = batch.counted.sum()};
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t begin = size * i / parts;
    const TrainBatch part =
        PartOf(batch, begin, size * (i + 1) / parts - begin);
    const torch::Tensor teacher = TeacherLogits(part.images);
    const torch::Tensor logits = model_.forward(part.images);
    const torch::Tensor loss = loss_.Of(logits, teacher, part, divisors);
    AddResults(
        sums, loss,
        MaskedSum(InTop1Of(logits, part), part.counted) / divisors.images);
    if (exchange_ && i + 1 == parts) {
      exchange_->Begin(sums, end_requested);
    }
    (scaler_ ? scaler_->Scaled(loss) : loss).backward();
  }
  return sums;
}

StepResults TrainStep::Run(const DeviceBatch& batch, const StepInputs& inputs,
                           bool end_requested) {
  if (group_ != nullptr && !exchange_) {
    exchange_ = std::make_unique<Exchange>(model_.parameters, *group_);
  }
  const TrainBatch prepared = Prepare(batch, inputs);
  const BatchDivisors divisors = DivisorsOf(prepared);
  StepResults results = Backward(prepared, divisors, end_requested);
  if (exchange_) {
    results = exchange_->Finish(divisors.images);
  }
  torch::Tensor refused;
  if (scaler_) {
    refused = scaler_->Unscale(model_.parameters);
    results.loss_scale = scaler_->scale();
    results.skipped_steps = scaler_->skipped_steps();
  }
  if (IsSeenNotFinite(results.loss)) {
    refused_images_ = prepared.images;
    return results;
  }
  const torch::NoGradGuard no_grad;
  results.loss.add_(Update(inputs.rates, refused));
  average_.Update(inputs.newest);
  return results;
}

// Updates the weights from their gradients; returns the L2 term. refused: that
// of a scaled loss.
torch::Tensor TrainStep::Update(const torch::Tensor& rate,
                                const torch::Tensor& refused) {
  if (options_.clip_gradient_norm > 0) {
    ClipGradients(model_.parameters, options_.clip_gradient_norm);
  }
  if (!scaler_) {
    return optimizer_->Step(rate);
  }
  torch::Tensor l2 = optimizer_->StepUnless(refused, rate);
  scaler_->Update(refused);
  return l2;
}

void TrainStep::Forget() {
  exchange_.reset();
  for (const OptimizedParameter& parameter : model_.parameters) {
    torch::Tensor weight = parameter.weight;
    weight.mutable_grad().reset();
  }
}

NamedTensors TrainStep::RefusedImages() const {
  return refused_images_.defined() ? NamedTensors{{"images", refused_images_}}
                                   : NamedTensors();
}

NamedTensors TrainStep::RefusedGradients() const {
  NamedTensors gradients;
  for (auto i = model_.parameters.rbegin();
       refused_images_.defined() && i != model_.parameters.rend(); ++i) {
    if (i->weight.grad().defined()) {
      gradients.emplace_back(i->name, i->weight.grad());
    }
  }
  return gradients;
}

void TrainStep::AverageStatistics() {
  if (group_ == nullptr || model_.statistics.empty()) {
    return;
  }
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : model_.statistics) {
    tensors.push_back(tensor);
  }
  if (options_.moving_average_decay > 0) {
    const NamedTensors averages = average_.State();
    for (std::size_t i = model_.parameters.size(); i < averages.size(); ++i) {
      tensors.push_back(averages[i].second);
    }
  }
  Average(tensors, *group_);
}

}  // namespace infeed
