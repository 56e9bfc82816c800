#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/memory/batch_memory.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/resident_images.h"
#include "trainer/loop/options.h"
#include "trainer/model/non_finite.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/model/options.h"
#include "trainer/ranks/place.h"
#include "trainer/scores/eval_sums.h"
#include "trainer/scores/prediction.h"
#include "trainer/tensors/host_tensor.h"

namespace infeed {

// The device with the model on it. The host asks for whole loops; inside one
// nothing waits for the host. The only users of LibTorch are this class's
// sources, resnet, loss and optimizer.
//
// On the CPU, runs with the same seed, data and number of threads have the
// same bits, and so have runs that go on from a saved state.
//
// One thread, the same for all calls: LibTorch's threads belong to it. The
// constructor throws UsageError for a device that is not there, a negative
// number of threads, an unknown depth or no class.
class DeviceLoop {
 public:
  DeviceLoop(const ModelOptions& model, const OptimizerOptions& optimizer,
             const DeviceOptions& device);
  ~DeviceLoop();
  DeviceLoop(const DeviceLoop&) = delete;
  DeviceLoop& operator=(const DeviceLoop&) = delete;

  // Makes room for images on the device: from now on batches of choices
  // (BatchContent) are of them. Returns what takes them, batch after batch, as
  // ReadResidentImages() hands them out, before the next Train(). Throws
  // UsageError where they do not fit into the device's free memory.
  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape);

  // Runs up to `steps` training steps; the first is number first_step (from
  // 0). Each takes a batch from infeed and puts its result into outfeed as it
  // ends. Returns how many ran: fewer only when the infeed ended. Throws what
  // the infeed and the outfeed throw; the updates before that are done.
  //
  // With several ranks, all of them call it with the same numbers and their
  // parts of the same batches; results are of the whole batch, on every rank,
  // and all return the same number: fewer when one of them was asked to end
  // (Infeed::RequestEnd()), after the step at hand. Throws IoError when a rank
  // is gone.
  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed);

  // Runs the whole infeed through the model in evaluation mode, with the
  // averages of its weights where those are kept. What it counts stays on the
  // device until the end.
  [[nodiscard]] EvalSums Evaluate(Infeed& infeed);

  // The same, but hands out what the model says of each batch as it is known.
  // Throws what the infeed and the sink throw.
  void Predict(Infeed& infeed, const PredictionSink& sink);

  // Copies the state off the device, and back. Load throws DataError naming
  // the first tensor that is missing, unknown or of another shape or type, and
  // changes nothing then.
  [[nodiscard]] ModelState Save() const;
  void Load(const ModelState& state);

  // The model as evaluation sees it: with the averages of its weights and
  // moving statistics, where moving_average_decay has them kept.
  [[nodiscard]] TensorMap SaveForUse() const;

  // Starts anew from these weights, under the names of Save().model; averages
  // start at them. Throws as Load() does.
  void LoadWeights(const TensorMap& weights);

  // Gives every rank rank 0's state: after Load() or LoadWeights() on it.
  void Broadcast();
  // A hash of the weights and moving statistics: the same on ranks where those
  // have the same bits.
  [[nodiscard]] std::uint64_t Hash() const;

  // The tensors with numbers that are not finite, by kind: input, weights,
  // statistics, gradients. On the CPU they are those of the step whose loss was
  // not finite, which ends its loop and updates no weight; a GPU ends the loop
  // first, and has neither input nor gradients any more.
  [[nodiscard]] std::vector<NonFiniteTensor> FindNonFinite() const;

  [[nodiscard]] std::int64_t parameter_count() const;
  // "cpu, 2 threads, bfloat16", "cuda:0, NVIDIA H200, CUDA graphs, bfloat16":
  // for the lines at start.
  [[nodiscard]] std::string Describe() const;

  // For the memory of the batches that this device gets; may outlive it.
  [[nodiscard]] BatchMemory batch_memory() const;
  // How often the host has waited for a GPU in training loops; 0 on the CPU,
  // which is the host.
  [[nodiscard]] std::int64_t host_syncs() const;
  // How many of the first steps say nothing of the speed of the rest.
  [[nodiscard]] int warm_up_steps() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether a device name stands for a GPU on this machine. Throws UsageError for
// an unknown name, or a GPU that is not there.
[[nodiscard]] bool IsGpu(const std::string& device);

// The device that "auto" and "cuda" stand for on one of several ranks of a
// machine: the local rank's GPU, or the only one that it is shown. Other names
// stay. Throws as IsGpu().
[[nodiscard]] std::string DeviceOfRank(const std::string& device,
                                       const RankPlace& place);

// "1.13.1": the LibTorch that runs.
[[nodiscard]] std::string TorchVersion();

// A device name's meaning here: "cpu, 2 threads of LibTorch, units for
// bfloat16" or "cuda:0, one of 8 GPUs". Throws as IsGpu().
[[nodiscard]] std::string DescribeDevices(const std::string& device);

// Whether this CPU has units for bfloat16, AVX512_BF16 or AMX. Training is not
// always faster with them: docs/performance.md has figures.
[[nodiscard]] bool CpuHasBfloat16();

}  // namespace infeed
