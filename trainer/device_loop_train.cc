#include "trainer/device_loop_train.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/loss.h"
#include "trainer/lr_schedule.h"
#include "trainer/optimizer_gradients.h"

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

}  // namespace

TrainLoop::TrainLoop(TrainedModel model, const OptimizerOptions& options,
                     std::int64_t classes, const torch::Device& device)
    : model_(std::move(model)),
      options_(options),
      mix_{.mixup_alpha = options.mixup_alpha,
           .cutmix_alpha = options.cutmix_alpha,
           .seed = options.seed},
      classes_(classes),
      device_(device),
      optimizer_(MakeOptimizer(options, model_.parameters)),
      average_(AveragedTensors(model_, options)) {}

NamedTensors TrainLoop::State() const {
  NamedTensors state = optimizer_->State();
  const NamedTensors averages = average_.State();
  state.insert(state.end(), averages.begin(), averages.end());
  return state;
}

TrainLoop::StepInputs TrainLoop::Upload(std::int64_t first_step,
                                        std::int64_t steps,
                                        int image_size) const {
  StepInputs inputs;
  inputs.rates =
      UploadNumbers(first_step, steps, device_, [this](std::int64_t step) {
        return LearningRate(step, options_.learning_rate);
      });
  inputs.newest =
      UploadNumbers(first_step, steps, device_, [this](std::int64_t step) {
        return 1 - MovingAverageDecay(step + 1, options_.moving_average_decay);
      });
  if (mix_.any()) {
    inputs.mixes = UploadMixes(first_step, steps, image_size, mix_, device_);
  }
  return inputs;
}

TrainBatch TrainLoop::Prepare(const DeviceBatch& batch,
                              const StepInputs& inputs, std::int64_t i) const {
  TrainBatch prepared = {
      .images = batch.images,
      .labels = batch.labels,
      .counted = CountedSlots(batch.labels, batch.weights, classes_)};
  return inputs.mixes.defined() ? Mixed(std::move(prepared), inputs.mixes[i])
                                : prepared;
}

// Loss and top-1 of the batch, and the gradients of the loss. The batch may go
// through the model in parts, whose gradients add up to those of the whole.
TrainLoop::StepResults TrainLoop::Backward(const TrainBatch& batch) {
  const torch::Tensor counted = CountOf(batch.counted);
  const std::int64_t size = batch.labels.size(0);
  const std::int64_t parts =
      std::min<std::int64_t>(options_.accumulation_steps, size);
  StepResults sums = {.loss = torch::zeros({}, torch::device(device_)),
                      .top_1 = torch::zeros({}, torch::device(device_))};
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t begin = size * i / parts;
    const TrainBatch part =
        PartOf(batch, begin, size * (i + 1) / parts - begin);
    const torch::Tensor logits = model_.forward(part.images);
    const torch::Tensor loss =
        MaskedSum(CrossEntropyOf(logits, part, options_.label_smoothing),
                  part.counted) /
        counted;
    loss.backward();
    const torch::NoGradGuard no_grad;
    sums.loss.add_(loss);
    sums.top_1.add_(MaskedSum(InTop1Of(logits, part), part.counted) / counted);
  }
  return sums;
}

TrainLoop::StepResults TrainLoop::Step(const TrainBatch& batch,
                                       const StepInputs& inputs,
                                       std::int64_t i) {
  StepResults results = Backward(batch);
  if (options_.clip_gradient_norm > 0) {
    ClipGradients(model_.parameters, options_.clip_gradient_norm);
  }
  const torch::NoGradGuard no_grad;
  results.loss.add_(optimizer_->Step(inputs.rates[i]));
  average_.Update(inputs.newest[i]);
  return results;
}

std::int64_t TrainLoop::Run(std::int64_t first_step, std::int64_t steps,
                            const BatchUnpacker& unpacker, Infeed& infeed,
                            Outfeed& outfeed) {
  const StepInputs inputs = Upload(first_step, steps, infeed.image_size());
  // [rate, loss, top-1] of each step.
  const torch::Tensor results =
      torch::empty({3, steps}, torch::device(device_));
  results[0].copy_(inputs.rates);
  std::vector<std::int64_t> images;  // that count, of each step
  const auto report = [&](const torch::Tensor& host, std::int64_t i) {
    const auto* values = host.data_ptr<float>() + i;
    outfeed.Put({.step = first_step + i + 1,
                 .loss = values[steps],
                 .top_1 = values[2 * steps],
                 .learning_rate = values[0],
                 .images = images[static_cast<std::size_t>(i)]});
  };
  std::int64_t done = 0;
  for (; done < steps; ++done) {
    BatchHandle batch = infeed.Next();
    if (!batch) {
      break;
    }
    const DeviceBatch on_device = unpacker.Unpack(*batch);
    images.push_back(CountedImages(*batch, classes_));
    batch.reset();  // Its memory is free for the pipeline while we compute.
    model_.begin_step(first_step + done);
    const auto [loss, top_1] =
        Step(Prepare(on_device, inputs, done), inputs, done);
    results[1][done].copy_(loss);
    results[2][done].copy_(top_1);
    if (device_.is_cpu()) {
      report(results, done);
    }
  }
  if (!device_.is_cpu()) {
    // Reading a result earlier would make the host wait for the device.
    const torch::Tensor host = results.to(torch::kCPU);
    for (std::int64_t i = 0; i < done; ++i) {
      report(host, i);
    }
  }
  return done;
}

}  // namespace infeed
