#include "trainer/device_loop.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "trainer/device_loop_autocast.h"
#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_device.h"
#include "trainer/device_loop_state.h"
#include "trainer/loss.h"
#include "trainer/optimizer.h"
#include "trainer/resnet.h"

namespace infeed {
namespace {

std::vector<OptimizedParameter> ParametersOf(const ResNet& model) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& entry : model.named_parameters()) {
    parameters.push_back({.name = entry.key(),
                          .weight = entry.value(),
                          .decayed = ResNet::IsDecayed(entry.key())});
  }
  return parameters;
}

}  // namespace

// Eager LibTorch on one device.
class DeviceLoop::Impl {
 public:
  Impl(const ModelOptions& model, const OptimizerOptions& optimizer,
       const DeviceOptions& device)
      : threads_(SetThreads(device.threads)),
        device_(ParseDevice(device.device)),
        bfloat16_(device.precision == Precision::kBfloat16),
        options_(optimizer),
        classes_(model.num_classes),
        model_(std::make_shared<ResNet>(model.depth, model.num_classes,
                                        model.seed)),
        optimizer_(MoveToDevice(), {.momentum = optimizer.momentum,
                                    .nesterov = optimizer.nesterov,
                                    .weight_decay = optimizer.weight_decay}),
        unpacker_(device_, device.normalization) {}

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed);
  EvalCounts Evaluate(Infeed& infeed);
  ModelState Save() const {
    return {.model = ToHost(ModelTensors()), .optimizer = ToHost(Momentum())};
  }
  void Load(const ModelState& state);
  std::int64_t parameter_count() const;
  std::string Describe() const;

 private:
  std::vector<OptimizedParameter> MoveToDevice() {
    model_->to(device_);
    return ParametersOf(*model_);
  }
  NamedTensors ModelTensors() const;
  NamedTensors Momentum() const;

  torch::Tensor UploadRates(std::int64_t first_step, std::int64_t steps) const;
  torch::Tensor Forward(const torch::Tensor& images);
  void TrainStep(const DeviceBatch& batch, const torch::Tensor& rate,
                 torch::Tensor loss, torch::Tensor top_1);
  torch::Tensor CountStep(const DeviceBatch& batch);

  int threads_;  // First: everything after it runs with them.
  torch::Device device_;
  bool bfloat16_;
  OptimizerOptions options_;
  std::int64_t classes_;
  std::shared_ptr<ResNet> model_;
  MomentumOptimizer optimizer_;
  BatchUnpacker unpacker_;
};

// The learning rates of a loop's steps, on the device: a step finds its own
// without asking the host.
torch::Tensor DeviceLoop::Impl::UploadRates(std::int64_t first_step,
                                            std::int64_t steps) const {
  torch::Tensor rates = torch::empty({steps}, torch::kFloat);
  auto* data = rates.data_ptr<float>();
  for (std::int64_t i = 0; i < steps; ++i) {
    data[i] = static_cast<float>(
        LearningRate(first_step + i, options_.learning_rate));
  }
  return rates.to(device_);
}

torch::Tensor DeviceLoop::Impl::Forward(const torch::Tensor& images) {
  const AutocastScope autocast(device_.type(), bfloat16_);
  return model_->Forward(images);
}

// Writes the step's loss and top-1 into tensors of one element.
void DeviceLoop::Impl::TrainStep(const DeviceBatch& batch,
                                 const torch::Tensor& rate, torch::Tensor loss,
                                 torch::Tensor top_1) {
  const torch::Tensor logits = Forward(batch.images);
  const torch::Tensor counted =
      CountedSlots(batch.labels, batch.weights, classes_);
  const torch::Tensor cross_entropy = MaskedMean(
      CrossEntropy(logits, batch.labels, options_.label_smoothing), counted);
  cross_entropy.backward();
  const torch::Tensor l2 = optimizer_.Step(rate);

  const torch::NoGradGuard no_grad;
  loss.copy_(cross_entropy + l2);
  top_1.copy_(MaskedMean(InTop1(logits, batch.labels), counted));
}

std::int64_t DeviceLoop::Impl::Train(std::int64_t first_step,
                                     std::int64_t steps, Infeed& infeed,
                                     Outfeed& outfeed) {
  model_->train();
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
    const DeviceBatch on_device = unpacker_.Unpack(*batch);
    images.push_back(CountedImages(*batch, classes_));
    batch.reset();  // Its memory is free for the pipeline while we compute.
    TrainStep(on_device, results[0][done], results[1][done], results[2][done]);
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

// [images, top-1, top-5, sum of losses] of a batch, float64.
torch::Tensor DeviceLoop::Impl::CountStep(const DeviceBatch& batch) {
  const torch::Tensor logits = Forward(batch.images).to(torch::kFloat);
  const torch::Tensor counted =
      CountedSlots(batch.labels, batch.weights, classes_);
  const torch::Tensor rows = torch::stack(
      {counted, InTop1(logits, batch.labels), InTop5(logits, batch.labels),
       CrossEntropy(logits, batch.labels, options_.label_smoothing)});
  return torch::where(counted.ne(0), rows, torch::zeros_like(rows))
      .sum(1, /*keepdim=*/false, torch::kDouble);
}

EvalCounts DeviceLoop::Impl::Evaluate(Infeed& infeed) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  const torch::Tensor counts =
      torch::zeros({4}, torch::device(device_).dtype(torch::kDouble));
  while (BatchHandle batch = infeed.Next()) {
    const DeviceBatch on_device = unpacker_.Unpack(*batch);
    batch.reset();
    counts.add_(CountStep(on_device));
  }
  const torch::Tensor host = counts.to(torch::kCPU);
  const auto* values = host.data_ptr<double>();
  return {.images = static_cast<std::int64_t>(values[0]),
          .top_1 = static_cast<std::int64_t>(values[1]),
          .top_5 = static_cast<std::int64_t>(values[2]),
          .loss_sum = values[3]};
}

NamedTensors DeviceLoop::Impl::ModelTensors() const {
  NamedTensors tensors;
  for (const auto& entry : model_->named_parameters()) {
    tensors.emplace_back(entry.key(), entry.value());
  }
  for (const auto& entry : model_->named_buffers()) {
    tensors.emplace_back(entry.key(), entry.value());
  }
  return tensors;
}

NamedTensors DeviceLoop::Impl::Momentum() const {
  NamedTensors tensors;
  for (const OptimizedParameter& parameter : optimizer_.parameters()) {
    tensors.emplace_back(parameter.name, parameter.momentum);
  }
  return tensors;
}

void DeviceLoop::Impl::Load(const ModelState& state) {
  const NamedTensors model = ModelTensors();
  const NamedTensors momentum = Momentum();
  CheckFits(model, state.model);
  CheckFits(momentum, state.optimizer);
  FromHost(model, state.model);
  FromHost(momentum, state.optimizer);
}

std::int64_t DeviceLoop::Impl::parameter_count() const {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model_->parameters()) {
    count += parameter.numel();
  }
  return count;
}

std::string DeviceLoop::Impl::Describe() const {
  return device_.str() +
         (device_.is_cpu() ? ", " + std::to_string(threads_) + " threads"
                           : "") +
         (bfloat16_ ? ", bfloat16" : ", float32");
}

DeviceLoop::DeviceLoop(const ModelOptions& model,
                       const OptimizerOptions& optimizer,
                       const DeviceOptions& device)
    : impl_(std::make_unique<Impl>(model, optimizer, device)) {}

DeviceLoop::~DeviceLoop() = default;

std::int64_t DeviceLoop::Train(std::int64_t first_step, std::int64_t steps,
                               Infeed& infeed, Outfeed& outfeed) {
  return impl_->Train(first_step, steps, infeed, outfeed);
}

EvalCounts DeviceLoop::Evaluate(Infeed& infeed) {
  return impl_->Evaluate(infeed);
}

ModelState DeviceLoop::Save() const { return impl_->Save(); }

void DeviceLoop::Load(const ModelState& state) { impl_->Load(state); }

std::int64_t DeviceLoop::parameter_count() const {
  return impl_->parameter_count();
}

std::string DeviceLoop::Describe() const { return impl_->Describe(); }

}  // namespace infeed
