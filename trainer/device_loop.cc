#include "trainer/device_loop.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "trainer/device_loop_autocast.h"
#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_device.h"
#include "trainer/device_loop_eval.h"
#include "trainer/device_loop_state.h"
#include "trainer/loss.h"
#include "trainer/network.h"
#include "trainer/optimizer.h"

namespace infeed {
namespace {

// Those that are not frozen.
std::vector<OptimizedParameter> ParametersOf(const Network& model) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& entry : model.named_parameters()) {
    if (entry.value().requires_grad()) {
      parameters.push_back(
          {.name = entry.key(),
           .weight = entry.value(),
           .decayed = model.KindOf(entry.key()) != ParameterKind::kNorm});
    }
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
        model_(MakeNetwork(model)),
        optimizer_(MoveToDevice(), {.momentum = optimizer.momentum,
                                    .nesterov = optimizer.nesterov,
                                    .weight_decay = optimizer.weight_decay}),
        unpacker_(device_, device.normalization) {}

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed);
  EvalSums Evaluate(Infeed& infeed);
  void Predict(Infeed& infeed, const PredictionSink& sink);
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

  int threads_;  // First: everything after it runs with them.
  torch::Device device_;
  bool bfloat16_;
  OptimizerOptions options_;
  std::int64_t classes_;
  std::shared_ptr<Network> model_;
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
    model_->SetStep(first_step + done);
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

EvalSums DeviceLoop::Impl::Evaluate(Infeed& infeed) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  EvalCounter counter(device_, static_cast<int>(classes_),
                      options_.label_smoothing);
  while (BatchHandle batch = infeed.Next()) {
    const DeviceBatch on_device = unpacker_.Unpack(*batch);
    batch.reset();
    counter.Add(Forward(on_device.images), on_device);
  }
  return counter.Read();
}

void DeviceLoop::Impl::Predict(Infeed& infeed, const PredictionSink& sink) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  while (const BatchHandle batch = infeed.Next()) {
    Predictions predictions =
        PredictionsOf(Forward(unpacker_.Unpack(*batch).images));
    predictions.labels.assign(batch->labels().begin(), batch->labels().end());
    predictions.weights.assign(batch->weights().begin(),
                               batch->weights().end());
    sink(predictions);
  }
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

EvalSums DeviceLoop::Evaluate(Infeed& infeed) {
  return impl_->Evaluate(infeed);
}

void DeviceLoop::Predict(Infeed& infeed, const PredictionSink& sink) {
  impl_->Predict(infeed, sink);
}

ModelState DeviceLoop::Save() const { return impl_->Save(); }

void DeviceLoop::Load(const ModelState& state) { impl_->Load(state); }

std::int64_t DeviceLoop::parameter_count() const {
  return impl_->parameter_count();
}

std::string DeviceLoop::Describe() const { return impl_->Describe(); }

}  // namespace infeed
