#include "trainer/loop/device_loop.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "base/count_text.h"
#include "trainer/groups/device_group.h"
#include "trainer/groups/flat_tensors.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/device.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/passes.h"
#include "trainer/loop/step.h"
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

// The members, whose types need LibTorch's headers.
struct DeviceLoop::Impl {
  Impl(const ModelOptions& model, const OptimizerOptions& optimizer,
       const DeviceOptions& device)
      : threads(SetThreads(device.threads)),
        torch_device(ParseDevice(device.device)),
        in_bfloat16(device.precision == Precision::kBfloat16),
        optimizer_options(optimizer),
        eval_crops(device.eval_views.crops),
        group(JoinRanks(device)),
        norm_group(JoinNormGroup(device)),
        network(MakeNetwork(OfRank(model, device.place().rank))),
        step(MoveToDevice(), optimizer, model.num_classes, torch_device,
             group.get()),
        passes(MakePasses(device)),
        unpacker(torch_device, device.normalization) {}

  std::unique_ptr<DeviceGroup> JoinRanks(const DeviceOptions& options) const;
  std::unique_ptr<DeviceGroup> JoinNormGroup(
      const DeviceOptions& options) const;
  TrainedModel MoveToDevice();
  std::unique_ptr<DevicePasses> MakePasses(const DeviceOptions& options);
  torch::Tensor Forward(const torch::Tensor& images) const {
    return Logits(*network, images);
  }
  torch::Tensor Logits(Network& of, const torch::Tensor& images) const;

  int threads;  // First: constructing the later members uses these threads.
  torch::Device torch_device;
  bool in_bfloat16;
  OptimizerOptions optimizer_options;
  int eval_crops;
  std::unique_ptr<DeviceGroup> group;       // of all ranks; nullptr: alone
  std::unique_ptr<DeviceGroup> norm_group;  // of batch norms; nullptr: alone
  std::shared_ptr<Network> network;
  TrainStep step;
  std::unique_ptr<DevicePasses> passes;
  BatchUnpacker unpacker;  // of predictions
};

std::unique_ptr<DeviceGroup> DeviceLoop::Impl::JoinRanks(
    const DeviceOptions& options) const {
  return JoinDeviceGroup(options.ranks, 0, options.place().world_size,
                         torch_device, options.rank_timeout);
}

std::unique_ptr<DeviceGroup> DeviceLoop::Impl::JoinNormGroup(
    const DeviceOptions& options) const {
  const RankPlace place = options.place();
  const int size = BatchNormRanks(options.batch_norm_group, place.world_size);
  return JoinDeviceGroup(options.ranks, place.rank / size * size, size,
                         torch_device, options.rank_timeout);
}

TrainedModel DeviceLoop::Impl::MoveToDevice() {
  network->to(torch_device);
  ShareBatchNorms(*network, norm_group.get());
  return {
      .begin_step = [this](std::int64_t number) { network->SetStep(number); },
      .forward =
          [this](const torch::Tensor& images) { return Forward(images); },
      .parameters = ParametersOf(*network, optimizer_options),
      .statistics = StatisticsOf(*network)};
}

std::unique_ptr<DevicePasses> DeviceLoop::Impl::MakePasses(
    const DeviceOptions& options) {
  const DeviceModel model = {
      .step = step,
      .forward =
          [this](const torch::Tensor& images) { return Forward(images); },
      .generators = [this] { return network->Generators(); },
      .device = torch_device,
      .options = options,
      .label_smoothing = optimizer_options.loss.label_smoothing};
  return torch_device.is_cuda() ? MakeCudaPasses(model)
                                : MakeEagerPasses(model);
}

torch::Tensor DeviceLoop::Impl::Logits(Network& of,
                                       const torch::Tensor& images) const {
  const AutocastScope autocast(torch_device.type(), in_bfloat16);
  return of.Forward(images);
}

DeviceLoop::DeviceLoop(const ModelOptions& model,
                       const OptimizerOptions& optimizer,
                       const DeviceOptions& device)
    : impl_(std::make_unique<Impl>(model, optimizer, device)) {}

DeviceLoop::~DeviceLoop() = default;

std::function<void(const Batch&)> DeviceLoop::Hold(const ResidentShape& shape) {
  return impl_->passes->Hold(shape);
}

std::int64_t DeviceLoop::Train(std::int64_t first_step, std::int64_t steps,
                               Infeed& infeed, Outfeed& outfeed) {
  impl_->network->train();
  const std::int64_t done =
      impl_->passes->Train(first_step, steps, infeed, outfeed);
  impl_->step.AverageStatistics();
  return done;
}

std::uint64_t DeviceLoop::SetTeacher(const ModelOptions& model,
                                     const TensorMap& weights) {
  const std::shared_ptr<Network> teacher = MakeNetwork(model);
  const NamedTensors tensors = TensorsOf(*teacher);
  CheckFits(tensors, weights);
  FromHost(tensors, weights);
  teacher->to(impl_->torch_device);
  teacher->eval();
  for (const torch::Tensor& parameter : teacher->parameters()) {
    parameter.set_requires_grad(false);
  }
  impl_->step.SetTeacher(
      [impl = impl_.get(), teacher](const torch::Tensor& images) {
        return impl->Logits(*teacher, images);
      });
  return HashTensors(weights);
}

void DeviceLoop::SetPlateauRate(double rate) {
  impl_->step.SetPlateauRate(rate);
}

EvalSums DeviceLoop::Evaluate(Infeed& infeed, EvalWeights weights) {
  const torch::NoGradGuard no_grad;
  impl_->network->eval();
  if (weights == EvalWeights::kLive) {
    return impl_->passes->Evaluate(infeed);
  }
  const MovingAverage::Scope averages = impl_->step.UseAverages();
  return impl_->passes->Evaluate(infeed);
}

void DeviceLoop::Predict(Infeed& infeed, const PredictionSink& sink) {
  const torch::NoGradGuard no_grad;
  const MovingAverage::Scope averages = impl_->step.UseAverages();
  impl_->network->eval();
  while (const BatchHandle batch = infeed.Next()) {
    Predictions predictions =
        PredictionsOf(impl_->Forward(impl_->unpacker.Unpack(*batch).images));
    predictions.labels.assign(batch->labels().begin(), batch->labels().end());
    predictions.weights.assign(batch->weights().begin(),
                               batch->weights().end());
    sink(predictions);
  }
}

std::vector<NonFiniteTensor> DeviceLoop::FindNonFinite() const {
  std::vector<NonFiniteTensor> found;
  for (const auto& more :
       {FindNonFiniteTensors("input", impl_->step.RefusedImages()),
        FindNonFiniteTensors("weights", WeightsOf(*impl_->network)),
        FindNonFiniteTensors("statistics", StatisticsOf(*impl_->network)),
        FindNonFiniteTensors("gradients", impl_->step.RefusedGradients())}) {
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

ModelState DeviceLoop::Save() const {
  return {.model = ToHost(TensorsOf(*impl_->network)),
          .optimizer = ToHost(impl_->step.State())};
}

TensorMap DeviceLoop::SaveForUse() const {
  const MovingAverage::Scope averages = impl_->step.UseAverages();
  return ToHost(TensorsOf(*impl_->network));
}

void DeviceLoop::Load(const ModelState& state) {
  const NamedTensors model = TensorsOf(*impl_->network);
  const NamedTensors optimizer = impl_->step.State();
  CheckFits(model, state.model);
  CheckFits(optimizer, state.optimizer);
  FromHost(model, state.model);
  FromHost(optimizer, state.optimizer);
}

void DeviceLoop::LoadWeights(const TensorMap& weights) {
  const NamedTensors model = TensorsOf(*impl_->network);
  CheckFits(model, weights);
  FromHost(model, weights);
  impl_->step.RestartAverages();
}

void DeviceLoop::Broadcast() {
  if (impl_->group == nullptr) {
    return;
  }
  std::vector<torch::Tensor> tensors;
  for (const NamedTensors& named :
       {TensorsOf(*impl_->network), impl_->step.State()}) {
    for (const auto& [name, tensor] : named) {
      tensors.push_back(tensor);
    }
  }
  infeed::Broadcast(tensors, *impl_->group);
}

std::uint64_t DeviceLoop::Hash() const {
  return HashTensors(ToHost(TensorsOf(*impl_->network)));
}

std::int64_t DeviceLoop::parameter_count() const {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : impl_->network->parameters()) {
    count += parameter.numel();
  }
  return count;
}

std::string DeviceLoop::Describe() const {
  return impl_->torch_device.str() +
         (impl_->torch_device.is_cpu()
              ? ", " + CountText(impl_->threads, "thread")
              : "") +
         impl_->passes->Describe() +
         (impl_->in_bfloat16 ? ", bfloat16" : ", float32");
}

BatchMemory DeviceLoop::batch_memory() const {
  return impl_->passes->batch_memory();
}

std::int64_t DeviceLoop::host_syncs() const {
  return impl_->passes->host_syncs();
}

int DeviceLoop::eval_crops() const { return impl_->eval_crops; }

int DeviceLoop::warm_up_steps() const { return impl_->passes->warm_up_steps(); }

}  // namespace infeed
