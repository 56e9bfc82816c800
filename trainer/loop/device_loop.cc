#include "trainer/loop/device_loop.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "trainer/groups/device_group.h"
#include "trainer/groups/flat_tensors.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/device.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/passes.h"
#include "trainer/loop/step.h"
#include "trainer/model/batch_norm_ranks.h"
#include "trainer/network/batch_norm.h"
#include "trainer/network/network.h"
#include "trainer/network/tensors.h"
#include "trainer/optimizer/named_tensors.h"

namespace infeed {
namespace {

// Initial weights do not depend on the rank; the random draws of a step do.
ModelOptions OfRank(ModelOptions model, int rank) {
  model.rank = rank;
  return model;
}

}  // namespace

class DeviceLoop::Impl {
 public:
  Impl(const ModelOptions& model, const OptimizerOptions& optimizer,
       const DeviceOptions& device)
      : threads_(SetThreads(device.threads)),
        device_(ParseDevice(device.device)),
        bfloat16_(device.precision == Precision::kBfloat16),
        options_(optimizer),
        classes_(model.num_classes),
        group_(JoinRanks(device)),
        norm_group_(JoinNormGroup(device)),
        model_(MakeNetwork(OfRank(model, device.place().rank))),
        step_(MoveToDevice(), optimizer, classes_, device_, group_.get()),
        passes_(MakePasses(device)),
        unpacker_(device_, device.normalization) {}

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed);
  std::function<void(const Batch&)> Hold(const ResidentShape& shape) {
    return passes_->Hold(shape);
  }
  EvalSums Evaluate(Infeed& infeed);
  void Predict(Infeed& infeed, const PredictionSink& sink);
  ModelState Save() const {
    return {.model = ToHost(TensorsOf(*model_)),
            .optimizer = ToHost(step_.State())};
  }
  TensorMap SaveForUse() const {
    const MovingAverage::Scope averages = step_.UseAverages();
    return ToHost(TensorsOf(*model_));
  }
  void Load(const ModelState& state);
  void LoadWeights(const TensorMap& weights);
  void Broadcast();
  std::uint64_t Hash() const;
  std::vector<NonFiniteTensor> FindNonFinite() const;
  std::int64_t parameter_count() const;
  std::string Describe() const;
  BatchMemory batch_memory() const { return passes_->batch_memory(); }
  std::int64_t host_syncs() const { return passes_->host_syncs(); }
  int warm_up_steps() const { return passes_->warm_up_steps(); }

 private:
  std::unique_ptr<DeviceGroup> JoinRanks(const DeviceOptions& options) const;
  std::unique_ptr<DeviceGroup> JoinNormGroup(
      const DeviceOptions& options) const;
  TrainedModel MoveToDevice();
  std::unique_ptr<DevicePasses> MakePasses(const DeviceOptions& options);
  torch::Tensor Forward(const torch::Tensor& images);

  int threads_;  // First: all later members run with these threads.
  torch::Device device_;
  bool bfloat16_;
  OptimizerOptions options_;
  std::int64_t classes_;
  std::unique_ptr<DeviceGroup> group_;       // of all ranks; nullptr: alone
  std::unique_ptr<DeviceGroup> norm_group_;  // of batch norms; nullptr: alone
  std::shared_ptr<Network> model_;
  TrainStep step_;
  std::unique_ptr<DevicePasses> passes_;
  BatchUnpacker unpacker_;  // of predictions
};

std::unique_ptr<DeviceGroup> DeviceLoop::Impl::JoinRanks(
    const DeviceOptions& options) const {
  return JoinDeviceGroup(options.ranks, 0, options.place().world_size, device_,
                         options.rank_timeout);
}

std::unique_ptr<DeviceGroup> DeviceLoop::Impl::JoinNormGroup(
    const DeviceOptions& options) const {
  const RankPlace place = options.place();
  const int size = BatchNormRanks(options.batch_norm_group, place.world_size);
  return JoinDeviceGroup(options.ranks, place.rank / size * size, size, device_,
                         options.rank_timeout);
}

TrainedModel DeviceLoop::Impl::MoveToDevice() {
  model_->to(device_);
  ShareBatchNorms(*model_, norm_group_.get());
  return {.begin_step = [this](std::int64_t step) { model_->SetStep(step); },
          .forward =
              [this](const torch::Tensor& images) { return Forward(images); },
          .parameters = ParametersOf(*model_, options_),
          .statistics = StatisticsOf(*model_)};
}

std::unique_ptr<DevicePasses> DeviceLoop::Impl::MakePasses(
    const DeviceOptions& options) {
  const DeviceModel model = {
      .step = step_,
      .forward =
          [this](const torch::Tensor& images) { return Forward(images); },
      .generators = [this] { return model_->Generators(); },
      .device = device_,
      .options = options,
      .label_smoothing = options_.label_smoothing};
  return device_.is_cuda() ? MakeCudaPasses(model) : MakeEagerPasses(model);
}

torch::Tensor DeviceLoop::Impl::Forward(const torch::Tensor& images) {
  const AutocastScope autocast(device_.type(), bfloat16_);
  return model_->Forward(images);
}

std::int64_t DeviceLoop::Impl::Train(std::int64_t first_step,
                                     std::int64_t steps, Infeed& infeed,
                                     Outfeed& outfeed) {
  model_->train();
  const std::int64_t done = passes_->Train(first_step, steps, infeed, outfeed);
  step_.AverageStatistics();
  return done;
}

EvalSums DeviceLoop::Impl::Evaluate(Infeed& infeed) {
  const torch::NoGradGuard no_grad;
  const MovingAverage::Scope averages = step_.UseAverages();
  model_->eval();
  return passes_->Evaluate(infeed);
}

void DeviceLoop::Impl::Predict(Infeed& infeed, const PredictionSink& sink) {
  const torch::NoGradGuard no_grad;
  const MovingAverage::Scope averages = step_.UseAverages();
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

std::vector<NonFiniteTensor> DeviceLoop::Impl::FindNonFinite() const {
  std::vector<NonFiniteTensor> found;
  for (const auto& more :
       {NonFiniteOf("input", step_.RefusedImages()),
        NonFiniteOf("weights", WeightsOf(*model_)),
        NonFiniteOf("statistics", StatisticsOf(*model_)),
        NonFiniteOf("gradients", step_.RefusedGradients())}) {
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void DeviceLoop::Impl::Load(const ModelState& state) {
  const NamedTensors model = TensorsOf(*model_);
  const NamedTensors optimizer = step_.State();
  CheckFits(model, state.model);
  CheckFits(optimizer, state.optimizer);
  FromHost(model, state.model);
  FromHost(optimizer, state.optimizer);
}

void DeviceLoop::Impl::LoadWeights(const TensorMap& weights) {
  const NamedTensors model = TensorsOf(*model_);
  CheckFits(model, weights);
  FromHost(model, weights);
  step_.RestartAverages();
}

void DeviceLoop::Impl::Broadcast() {
  if (group_ == nullptr) {
    return;
  }
  std::vector<torch::Tensor> tensors;
  for (const NamedTensors& named : {TensorsOf(*model_), step_.State()}) {
    for (const auto& [name, tensor] : named) {
      tensors.push_back(tensor);
    }
  }
  infeed::Broadcast(tensors, *group_);
}

std::uint64_t DeviceLoop::Impl::Hash() const {
  return HashOf(ToHost(TensorsOf(*model_)));
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
         passes_->Describe() + (bfloat16_ ? ", bfloat16" : ", float32");
}

DeviceLoop::DeviceLoop(const ModelOptions& model,
                       const OptimizerOptions& optimizer,
                       const DeviceOptions& device)
    : impl_(std::make_unique<Impl>(model, optimizer, device)) {}

DeviceLoop::~DeviceLoop() = default;

std::function<void(const Batch&)> DeviceLoop::Hold(const ResidentShape& shape) {
  return impl_->Hold(shape);
}

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

TensorMap DeviceLoop::SaveForUse() const { return impl_->SaveForUse(); }

void DeviceLoop::Load(const ModelState& state) { impl_->Load(state); }

void DeviceLoop::LoadWeights(const TensorMap& weights) {
  impl_->LoadWeights(weights);
}

void DeviceLoop::Broadcast() { impl_->Broadcast(); }

std::uint64_t DeviceLoop::Hash() const { return impl_->Hash(); }

std::vector<NonFiniteTensor> DeviceLoop::FindNonFinite() const {
  return impl_->FindNonFinite();
}

std::int64_t DeviceLoop::parameter_count() const {
  return impl_->parameter_count();
}

std::string DeviceLoop::Describe() const { return impl_->Describe(); }

BatchMemory DeviceLoop::batch_memory() const { return impl_->batch_memory(); }

std::int64_t DeviceLoop::host_syncs() const { return impl_->host_syncs(); }

int DeviceLoop::warm_up_steps() const { return impl_->warm_up_steps(); }

}  // namespace infeed
