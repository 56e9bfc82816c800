#include "trainer/device_loop.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "trainer/device_loop_autocast.h"
#include "trainer/device_loop_batch.h"
#include "trainer/device_loop_device.h"
#include "trainer/device_loop_state.h"
#include "trainer/device_loop_train.h"
#include "trainer/loss.h"
#include "trainer/resnet.h"

namespace infeed {
namespace {

bool IsBias(const std::string& name) { return name.ends_with("bias"); }

// LARS adapts and decays what is neither batch norm's nor a bias, as the
// reference has it.
bool IsDecayed(const std::string& name, const OptimizerOptions& options) {
  switch (options.decay_scope) {
    case DecayScope::kAll:
      return true;
    case DecayScope::kReference:
      return ResNet::IsDecayed(name) &&
             (options.kind != OptimizerKind::kLars || !IsBias(name));
    case DecayScope::kWeights:
      break;
  }
  return ResNet::IsDecayed(name) && !IsBias(name);
}

// Those that are not frozen.
std::vector<OptimizedParameter> ParametersOf(const ResNet& model,
                                             const OptimizerOptions& options) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& entry : model.named_parameters()) {
    if (entry.value().requires_grad()) {
      parameters.push_back({.name = entry.key(),
                            .weight = entry.value(),
                            .decayed = IsDecayed(entry.key(), options)});
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
        model_(std::make_shared<ResNet>(model.depth, model.num_classes,
                                        model.seed)),
        training_(MoveToDevice(), optimizer, classes_, device_),
        unpacker_(device_) {}

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed);
  EvalCounts Evaluate(Infeed& infeed);
  ModelState Save() const {
    return {.model = ToHost(ModelTensors()),
            .optimizer = ToHost(training_.State())};
  }
  void Load(const ModelState& state);
  std::int64_t parameter_count() const;
  std::string Describe() const;

 private:
  TrainedModel MoveToDevice();
  NamedTensors ModelTensors() const;
  torch::Tensor Forward(const torch::Tensor& images);
  torch::Tensor CountStep(const DeviceBatch& batch);

  int threads_;  // First: everything after it runs with them.
  torch::Device device_;
  bool bfloat16_;
  OptimizerOptions options_;
  std::int64_t classes_;
  std::shared_ptr<ResNet> model_;
  TrainLoop training_;
  BatchUnpacker unpacker_;
};

TrainedModel DeviceLoop::Impl::MoveToDevice() {
  model_->to(device_);
  return {.forward = [this](const torch::Tensor& images,
                            std::int64_t) { return Forward(images); },
          .parameters = ParametersOf(*model_, options_)};
}

torch::Tensor DeviceLoop::Impl::Forward(const torch::Tensor& images) {
  const AutocastScope autocast(device_.type(), bfloat16_);
  return model_->Forward(images);
}

std::int64_t DeviceLoop::Impl::Train(std::int64_t first_step,
                                     std::int64_t steps, Infeed& infeed,
                                     Outfeed& outfeed) {
  model_->train();
  return training_.Run(first_step, steps, unpacker_, infeed, outfeed);
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

void DeviceLoop::Impl::Load(const ModelState& state) {
  const NamedTensors model = ModelTensors();
  const NamedTensors optimizer = training_.State();
  CheckFits(model, state.model);
  CheckFits(optimizer, state.optimizer);
  FromHost(model, state.model);
  FromHost(optimizer, state.optimizer);
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
