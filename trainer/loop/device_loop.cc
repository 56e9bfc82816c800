#include "trainer/loop/device_loop.h"

#include <ATen/ATen.h>
#include <torch/types.h>

#include "base/count_text.h"
#include "trainer/groups/device_group.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/device.h"
#include "trainer/loop/eval.h"
#include "trainer/loop/kineto.h"
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

// A network, its training step, and the passes of batches through them on the
// CPU or a GPU.
class TorchLoop final : public DeviceLoop {
 public:
  TorchLoop(const ModelOptions& model, const OptimizerOptions& optimizer,
            const DeviceOptions& device)
      : threads_(SetThreads(device.threads)),
        torch_device_(ParseDevice(device.device)),
        precision_(device.precision),
        optimizer_options_(optimizer),
        eval_crops_(device.eval_views.crops),
        group_(JoinRanks(device)),
        norm_group_(JoinNormGroup(device)),
        network_(MakeNetwork(OfRank(model, device.place().rank))),
        recorder_(torch_device_),
        step_(MoveToDevice(), optimizer, model.num_classes, torch_device_,
              group_.get()),
        passes_(MakePasses(device)),
        unpacker_(torch_device_, device.normalization) {}

  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) override {
    return passes_->Hold(shape);
  }

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override {
    network_->train();
    const std::int64_t done =
        passes_->Train(first_step, steps, infeed, outfeed);
    step_.AverageStatistics();
    return done;
  }

  std::uint64_t SetTeacher(const ModelOptions& model,
                           const TensorMap& weights) override {
    const std::shared_ptr<Network> teacher = MakeNetwork(model);
    const NamedTensors tensors = TensorsOf(*teacher);
    CheckFits(tensors, weights);
    FromHost(tensors, weights);
    teacher->to(torch_device_);
    teacher->eval();
    for (const torch::Tensor& parameter : teacher->parameters()) {
      parameter.set_requires_grad(false);
    }
    step_.SetTeacher([this, teacher](const torch::Tensor& images) {
      return Logits(*teacher, images);
    });
    return HashTensors(weights);
  }

  void SetPlateauRate(double rate) override { step_.SetPlateauRate(rate); }

  [[nodiscard]] EvalSums Evaluate(Infeed& infeed,
                                  EvalWeights weights) override {
    const torch::NoGradGuard no_grad;
    network_->eval();
    if (weights == EvalWeights::kLive) {
      return passes_->Evaluate(infeed);
    }
    const MovingAverage::Scope averages = step_.UseAverages();
    return passes_->Evaluate(infeed);
  }

  void Predict(Infeed& infeed, const PredictionSink& sink) override {
    const torch::NoGradGuard no_grad;
    const MovingAverage::Scope averages = step_.UseAverages();
    network_->eval();
    while (const BatchHandle batch = infeed.Next()) {
      const DeviceBatch unpacked = unpacker_.Unpack(*batch);
      Predictions predictions =
          PredictionsOf(Forward(unpacked.images), unpacked.labels);
      predictions.labels.assign(batch->labels().begin(), batch->labels().end());
      predictions.weights.assign(batch->weights().begin(),
                                 batch->weights().end());
      sink(predictions);
    }
  }

  [[nodiscard]] ModelState Save() const override {
    return {.model = ToHost(TensorsOf(*network_)),
            .optimizer = ToHost(step_.State())};
  }

  void Load(const ModelState& state) override {
    const NamedTensors model = TensorsOf(*network_);
    const NamedTensors optimizer = step_.State();
    CheckFits(model, state.model);
    // A run may resume with another precision or loss_scale.
    CheckFits(optimizer, state.optimizer, kLossScalePrefix);
    FromHost(model, state.model);
    FromHost(optimizer, state.optimizer);
  }

  void LoadForUse(ModelState state) override {
    const auto is_no_average = [](const auto& tensor) {
      return !tensor.first.ends_with(kAverageSuffix);
    };
    const NamedTensors model = TensorsOf(*network_);
    NamedTensors averages = step_.State();
    std::erase_if(averages, is_no_average);
    std::erase_if(state.optimizer, is_no_average);
    CheckFits(model, state.model);
    CheckFits(averages, state.optimizer);
    FromHost(model, state.model);
    FromHost(averages, state.optimizer);
  }

  [[nodiscard]] TensorMap SaveForUse() const override {
    const MovingAverage::Scope averages = step_.UseAverages();
    return ToHost(TensorsOf(*network_));
  }

  void LoadWeights(const TensorMap& weights) override {
    const NamedTensors model = TensorsOf(*network_);
    CheckFits(model, weights);
    FromHost(model, weights);
    step_.RestartAverages();
  }

  void Broadcast() override {
    if (group_ == nullptr) {
      return;
    }
    std::vector<torch::Tensor> tensors;
    for (const NamedTensors& named : {TensorsOf(*network_), step_.State()}) {
      for (const auto& [name, tensor] : named) {
        tensors.push_back(tensor);
      }
    }
    infeed::Broadcast(tensors, *group_);
  }

  [[nodiscard]] std::uint64_t Hash() const override {
    return HashTensors(ToHost(TensorsOf(*network_)));
  }

  [[nodiscard]] std::vector<NonFiniteTensor> FindNonFinite() const override {
    std::vector<NonFiniteTensor> found;
    for (const auto& more :
         {FindNonFiniteTensors("input", step_.RefusedImages()),
          FindNonFiniteTensors("weights", WeightsOf(*network_)),
          FindNonFiniteTensors("statistics", StatisticsOf(*network_)),
          FindNonFiniteTensors("gradients", step_.RefusedGradients())}) {
      found.insert(found.end(), more.begin(), more.end());
    }
    return found;
  }

  [[nodiscard]] std::int64_t parameter_count() const override {
    std::int64_t count = 0;
    for (const torch::Tensor& parameter : network_->parameters()) {
      count += parameter.numel();
    }
    return count;
  }

  [[nodiscard]] std::string Describe() const override {
    return torch_device_.str() +
           (torch_device_.is_cpu() ? ", " + CountText(threads_, "thread")
                                   : "") +
           passes_->Describe() + ", " + std::string(PrecisionText(precision_));
  }

  [[nodiscard]] BatchMemory batch_memory() const override {
    return passes_->batch_memory();
  }

  [[nodiscard]] std::int64_t host_syncs() const override {
    return passes_->host_syncs();
  }

  [[nodiscard]] DeviceRecorder& recorder() override { return recorder_; }

  [[nodiscard]] int eval_crops() const override { return eval_crops_; }

  [[nodiscard]] int warm_up_steps() const override {
    return passes_->warm_up_steps();
  }

 private:
  [[nodiscard]] std::unique_ptr<DeviceGroup> JoinRanks(
      const DeviceOptions& options) const {
    return JoinDeviceGroup(options.ranks, 0, options.place().world_size,
                           torch_device_, options.rank_timeout);
  }

  [[nodiscard]] std::unique_ptr<DeviceGroup> JoinNormGroup(
      const DeviceOptions& options) const {
    const RankPlace place = options.place();
    const int size = BatchNormRanks(options.batch_norm_group, place.world_size);
    return JoinDeviceGroup(options.ranks, place.rank / size * size, size,
                           torch_device_, options.rank_timeout);
  }

  TrainedModel MoveToDevice() {
    network_->to(torch_device_);
    ShareBatchNorms(*network_, norm_group_.get());
    return {.begin_step =
                [this](std::int64_t number) {
                  recorder_.BeforeStep();
                  network_->SetStep(number);
                },
            .forward =
                [this](const torch::Tensor& images) { return Forward(images); },
            .parameters = ParametersOf(*network_, optimizer_options_),
            .statistics = StatisticsOf(*network_)};
  }

  std::unique_ptr<DevicePasses> MakePasses(const DeviceOptions& options) {
    const DeviceModel model = {
        .step = step_,
        .forward =
            [this](const torch::Tensor& images) { return Forward(images); },
        .generators = [this] { return network_->Generators(); },
        .device = torch_device_,
        .options = options,
        .label_smoothing = optimizer_options_.loss.label_smoothing,
        .uses_space_to_depth = network_->uses_space_to_depth()};
    return torch_device_.is_cuda() ? MakeCudaPasses(model)
                                   : MakeEagerPasses(model);
  }

  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) const {
    return Logits(*network_, images);
  }
  torch::Tensor Logits(Network& of, const torch::Tensor& images) const {
    const AutocastScope autocast(torch_device_.type(), precision_);
    return of.Forward(images);
  }

  int threads_;  // First: constructing the later members uses these threads.
  torch::Device torch_device_;
  Precision precision_;
  OptimizerOptions optimizer_options_;
  int eval_crops_;
  std::unique_ptr<DeviceGroup> group_;       // of all ranks; nullptr: alone
  std::unique_ptr<DeviceGroup> norm_group_;  // of batch norms; nullptr: alone
  std::shared_ptr<Network> network_;
  KinetoRecorder recorder_;
  TrainStep step_;
  std::unique_ptr<DevicePasses> passes_;
  BatchUnpacker unpacker_;  // of predictions
};

}  // namespace

std::unique_ptr<DeviceLoop> MakeDeviceLoop(const ModelOptions& model,
                                           const OptimizerOptions& optimizer,
                                           const DeviceOptions& device) {
  return std::make_unique<TorchLoop>(model, optimizer, device);
}

}  // namespace infeed
