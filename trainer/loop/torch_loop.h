#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/groups/device_group.h"
#include "trainer/loop/batch.h"
#include "trainer/loop/device_loop.h"
#include "trainer/loop/passes.h"
#include "trainer/loop/step.h"
#include "trainer/network/network.h"

namespace infeed {

// The DeviceLoop of LibTorch: a network, its training step, and the passes of
// batches through them on the CPU or a GPU. Threads and errors as DeviceLoop
// and MakeDeviceLoop(); DeviceOptions::ranks must outlive it.
class TorchLoop final : public DeviceLoop {
 public:
  // MakeDeviceLoop().
  TorchLoop(const ModelOptions& model, const OptimizerOptions& optimizer,
            const DeviceOptions& device);

  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) override;
  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override;
  std::uint64_t SetTeacher(const ModelOptions& model,
                           const TensorMap& weights) override;
  void SetPlateauRate(double rate) override;
  [[nodiscard]] EvalSums Evaluate(Infeed& infeed, EvalWeights weights) override;
  void Predict(Infeed& infeed, const PredictionSink& sink) override;
  [[nodiscard]] ModelState Save() const override;
  void Load(const ModelState& state) override;
  [[nodiscard]] TensorMap SaveForUse() const override;
  void LoadWeights(const TensorMap& weights) override;
  void Broadcast() override;
  [[nodiscard]] std::uint64_t Hash() const override;
  [[nodiscard]] std::vector<NonFiniteTensor> FindNonFinite() const override;
  [[nodiscard]] std::int64_t parameter_count() const override;
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] BatchMemory batch_memory() const override;
  [[nodiscard]] std::int64_t host_syncs() const override;
  [[nodiscard]] int eval_crops() const override;
  [[nodiscard]] int warm_up_steps() const override;

 private:
  [[nodiscard]] std::unique_ptr<DeviceGroup> JoinRanks(
      const DeviceOptions& options) const;
  [[nodiscard]] std::unique_ptr<DeviceGroup> JoinNormGroup(
      const DeviceOptions& options) const;
  TrainedModel MoveToDevice();
  std::unique_ptr<DevicePasses> MakePasses(const DeviceOptions& options);
  [[nodiscard]] torch::Tensor Forward(const torch::Tensor& images) const {
    return Logits(*network_, images);
  }
  torch::Tensor Logits(Network& of, const torch::Tensor& images) const;

  int threads_;  // First: constructing the later members uses these threads.
  torch::Device torch_device_;
  bool in_bfloat16_;
  OptimizerOptions optimizer_options_;
  int eval_crops_;
  std::unique_ptr<DeviceGroup> group_;       // of all ranks; nullptr: alone
  std::unique_ptr<DeviceGroup> norm_group_;  // of batch norms; nullptr: alone
  std::shared_ptr<Network> network_;
  TrainStep step_;
  std::unique_ptr<DevicePasses> passes_;
  BatchUnpacker unpacker_;  // of predictions
};

}  // namespace infeed
