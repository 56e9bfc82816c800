#include "trainer/device_loop_train.h"

#include <utility>

#include <ATen/ATen.h>

#include "trainer/loss.h"
#include "trainer/lr_schedule.h"
#include "trainer/optimizer_gradients.h"

namespace infeed {

TrainLoop::TrainLoop(TrainedModel model, const OptimizerOptions& options,
                     std::int64_t classes, const torch::Device& device)
    : model_(std::move(model)),
      options_(options),
      classes_(classes),
      device_(device),
      optimizer_(MakeOptimizer(options, model_.parameters)) {}

// The learning rates of a loop's steps: a step finds its own without asking
// the host.
torch::Tensor TrainLoop::UploadRates(std::int64_t first_step,
                                     std::int64_t steps) const {
  torch::Tensor rates = torch::empty({steps}, torch::kFloat);
  auto* data = rates.data_ptr<float>();
  for (std::int64_t i = 0; i < steps; ++i) {
    data[i] = static_cast<float>(
        LearningRate(first_step + i, options_.learning_rate));
  }
  return rates.to(device_);
}

void TrainLoop::Step(std::int64_t step, const DeviceBatch& batch,
                     const torch::Tensor& rate, Results results) {
  const torch::Tensor logits = model_.forward(batch.images, step);
  const torch::Tensor counted =
      CountedSlots(batch.labels, batch.weights, classes_);
  const torch::Tensor cross_entropy = MaskedMean(
      CrossEntropy(logits, batch.labels, options_.label_smoothing), counted);
  cross_entropy.backward();
  if (options_.clip_gradient_norm > 0) {
    ClipGradients(model_.parameters, options_.clip_gradient_norm);
  }
  const torch::Tensor l2 = optimizer_->Step(rate);

  const torch::NoGradGuard no_grad;
  results.loss.copy_(cross_entropy + l2);
  results.top_1.copy_(MaskedMean(InTop1(logits, batch.labels), counted));
}

std::int64_t TrainLoop::Run(std::int64_t first_step, std::int64_t steps,
                            const BatchUnpacker& unpacker, Infeed& infeed,
                            Outfeed& outfeed) {
  const torch::Tensor rates = UploadRates(first_step, steps);
  // [rate, loss, top-1] of each step.
  const torch::Tensor results =
      torch::empty({3, steps}, torch::device(device_));
  results[0].copy_(rates);
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
    Step(first_step + done, on_device, rates[done],
         {.loss = results[1][done], .top_1 = results[2][done]});
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
