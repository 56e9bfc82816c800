#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/memory/batch.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/outfeed.h"
#include "trainer/feed/resident_images.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/log/operations.h"
#include "trainer/model/non_finite.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/model/options.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/ranks.h"
#include "trainer/results/eval_sums.h"
#include "trainer/results/prediction.h"

namespace infeed {

// The views of an image in an evaluation, whose logits are averaged. crops:
// consecutive slots of a batch show one image; flip: the device adds the mirror
// image of each.
struct EvalViews {
  int crops = 1;
  bool flip = false;
};

// The weights that an evaluation uses if their moving averages are kept.
enum class EvalWeights { kAverage, kLive };

struct DeviceOptions {
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  Precision precision = Precision::kFloat32;
  int threads = 0;  // of the CPU's own work; 0: one for each core
  Normalization normalization = Normalization::kImagenet;
  // On a GPU: whether steps are replayed as CUDA graphs.
  GraphReplay graphs = GraphReplay::kTrue;
  // On a GPU: whether every run gives the same bits.
  bool deterministic = false;
  EvalViews eval_views = {};

  // ranks: the ranks that train this model, each on a part of every batch; must
  // outlive the loop; nullptr: a single process. batch_norm_group: how many
  // consecutive ranks share the statistics of their batch norms: a divisor of
  // world_size, 0 for all.
  Ranks* ranks = nullptr;
  int batch_norm_group = 1;
  std::chrono::seconds rank_timeout{300};

  // Called with a line when a GPU rejects something optional (graphs, pinned
  // memory) and the loop continues without it. May be empty.
  std::function<void(const std::string&)> say = {};

  [[nodiscard]] RankPlace place() const {
    return ranks == nullptr ? RankPlace() : ranks->place();
  }
};

// The device with the model on it. The host starts whole loops; inside a loop
// the device does not wait for the host. LibTorch is used only in the rooms
// loop, network, optimizer, groups and cuda of trainer/.
//
// On the CPU, runs with the same seed, data and number of threads give the same
// bits, and so do runs that resume from a saved state.
//
// All calls must come from the same thread, which owns LibTorch's threads.
class DeviceLoop {
 public:
  DeviceLoop() = default;
  virtual ~DeviceLoop() = default;
  DeviceLoop(const DeviceLoop&) = delete;
  DeviceLoop& operator=(const DeviceLoop&) = delete;

  // Allocates memory for images on the device; batches of choices
  // (BatchContent) then refer to these images. Returns a function that takes
  // the images, batch after batch, in the order of ReadResidentImages(); call
  // it for all of them before the next Train(). Throws UsageError where they do
  // not fit into the device's free memory.
  [[nodiscard]] virtual std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) = 0;

  // Runs up to `steps` training steps; the first is number first_step (from
  // 0). Each takes a batch from infeed and puts its result into outfeed as it
  // ends. Returns how many ran: fewer only when the infeed ended. Throws what
  // the infeed and the outfeed throw; the updates before that are done.
  //
  // With several ranks, all of them call it with the same numbers and their
  // parts of the same batches; results are of the whole batch, on every rank,
  // and all return the same number: fewer when one of them was asked to end
  // (Infeed::RequestEnd()), after the current step. Throws IoError when a rank
  // is gone.
  virtual std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                             Infeed& infeed, Outfeed& outfeed) = 0;

  // From the next Train() on, steps also learn from a teacher, a network with
  // these weights in evaluation mode (OptimizerOptions::distill). It is part of
  // no saved state. Returns a hash of the weights, as Hash(). Throws as Load().
  // Requires: no step ran.
  virtual std::uint64_t SetTeacher(const ModelOptions& model,
                                   const TensorMap& weights) = 0;

  // Sets LearningRateOptions' plateau_rate for the next Train(). All ranks set
  // the same.
  virtual void SetPlateauRate(double rate) = 0;

  // Runs the whole infeed through the model in evaluation mode. The counts stay
  // on the device until the end. An image is eval_crops() consecutive slots of
  // a batch, and counts if all of them do.
  [[nodiscard]] virtual EvalSums Evaluate(Infeed& infeed,
                                          EvalWeights weights) = 0;

  // Runs the infeed as Evaluate() does, and passes the predictions of each
  // batch to the sink. Throws what the infeed and the sink throw.
  virtual void Predict(Infeed& infeed, const PredictionSink& sink) = 0;

  // Copy the state from the device, and back. Load() throws DataError naming
  // the first tensor that is missing, unknown or of another shape or type, and
  // changes nothing then; the loss's scale keeps what the state does not have.
  [[nodiscard]] virtual ModelState Save() const = 0;
  virtual void Load(const ModelState& state) = 0;
  // As Load(), where nothing is trained: of the optimizer's state, which may be
  // another optimizer's, takes the moving averages only.
  virtual void LoadForUse(ModelState state) = 0;

  // The model as evaluation uses it: with the averages of its weights and
  // moving statistics, if moving_average_decay is set.
  [[nodiscard]] virtual TensorMap SaveForUse() const = 0;

  // Restarts from these weights, under the names of Save().model; averages
  // start at them. Throws as Load() does.
  virtual void LoadWeights(const TensorMap& weights) = 0;

  // Copies rank 0's state, after it has loaded one, to every rank.
  virtual void Broadcast() = 0;
  // A hash of the bits of the weights and moving statistics.
  [[nodiscard]] virtual std::uint64_t Hash() const = 0;

  // The tensors with numbers that are not finite, by kind: input, weights,
  // statistics, gradients. On the CPU they are those of the step whose loss was
  // not finite, which ends its loop and updates no weight; a GPU runs its loop
  // to the end, and no longer has input and gradients.
  [[nodiscard]] virtual std::vector<NonFiniteTensor> FindNonFinite() const = 0;

  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;
  // "cpu, 2 threads, bfloat16", "cuda:0, NVIDIA H200, CUDA graphs, bfloat16":
  // for the lines printed at the start.
  [[nodiscard]] virtual std::string Describe() const = 0;

  // The memory for batches that are copied to this device; may outlive this
  // object.
  [[nodiscard]] virtual BatchMemory batch_memory() const = 0;
  // How often the host has waited for a GPU in training loops; 0 on the CPU.
  [[nodiscard]] virtual std::int64_t host_syncs() const = 0;
  // Records what this device does, for profiles.
  [[nodiscard]] virtual DeviceRecorder& recorder() = 0;
  // The crops in DeviceOptions::eval_views.
  [[nodiscard]] virtual int eval_crops() const = 0;
  // Warm-up steps to leave out of speed figures.
  [[nodiscard]] virtual int warm_up_steps() const = 0;
};

// Throws UsageError for a device that does not exist, a negative number of
// threads, an unknown depth or num_classes < 1.
[[nodiscard]] std::unique_ptr<DeviceLoop> MakeDeviceLoop(
    const ModelOptions& model, const OptimizerOptions& optimizer,
    const DeviceOptions& device);

// Whether a device name stands for a GPU on this machine. Throws UsageError for
// an unknown name, or a GPU that does not exist.
[[nodiscard]] bool IsGpu(const std::string& device);

// The device that "auto" and "cuda" stand for on one of several ranks of a
// machine: the local rank's GPU, or the only visible one. Other names are
// returned unchanged. Throws as IsGpu().
[[nodiscard]] std::string DeviceOfRank(const std::string& device,
                                       const RankPlace& place);

// The version of the LibTorch in use, "1.13.1".
[[nodiscard]] std::string TorchVersion();

// The device that a name stands for on this machine: "cpu, 2 threads of
// LibTorch, units for bfloat16" or "cuda:0, one of 8 GPUs". Throws as IsGpu().
[[nodiscard]] std::string DescribeDevices(const std::string& device);

// Whether this CPU has units for bfloat16, AVX512_BF16 or AMX. Training is not
// always faster with them: docs/performance.md has figures.
[[nodiscard]] bool CpuHasBfloat16();

// The error with which a small convolution in bfloat16 fails on the CPU; "": it
// works. LibTorch's oneDNN can be kept from using a CPU's units
// (DNNL_MAX_CPU_ISA), and then fails instead of computing without them.
[[nodiscard]] std::string CpuBfloat16Fault();

}  // namespace infeed
