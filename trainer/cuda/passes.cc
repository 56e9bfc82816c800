#include "trainer/loop/passes.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAFunctions.h>

#include "trainer/cuda/evaluation.h"
#include "trainer/cuda/loop.h"
#include "trainer/cuda/memory.h"
#include "trainer/cuda/resident_loop.h"
#include "trainer/feed/optional_pinning.h"
#include "trainer/feed/slot_graphs.h"

namespace infeed {
namespace {

// Makes the device this thread's current one, for allocations that do not name
// a device.
//
// Lets cuDNN measure its algorithms and take the fastest, since many steps have
// the same shape, unless every run must use the same ones. LibTorch then warns
// about operations that have no deterministic form. The variable is set before
// the first call of cuBLAS, which then uses the same workspace in every call.
// New memory is not filled: no operation reads it before it is written.
const DeviceModel& Selected(const DeviceModel& model) {
  c10::cuda::set_device(model.device.index());
  const bool deterministic = model.options.deterministic;
  if (deterministic) {
    (void)::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*replace=*/0);
  }
  at::Context& libraries = at::globalContext();
  libraries.setBenchmarkCuDNN(!deterministic);
  libraries.setDeterministicCuDNN(deterministic);
  libraries.setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  libraries.setDeterministicFillUninitializedMemory(false);
  libraries.setAllowTF32CuDNN(false);
  libraries.setAllowTF32CuBLAS(false);
  return model;
}

class CudaPasses final : public DevicePasses {
 public:
  explicit CudaPasses(const DeviceModel& model)
      : model_(Selected(model)),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true,
                                             model.device.index())),
        graphs_(model.options.graphs, model.options.say),
        memory_(PinIfPossible(PinnedBatchMemory(model.device.index()),
                              model.options.say)),
        training_(model, stream_, waits_, graphs_),
        evaluation_(model, stream_, waits_, graphs_) {}

  [[nodiscard]] std::function<void(const Batch&)> Hold(
      const ResidentShape& shape) override {
    resident_.reset();  // Frees its memory first.
    resident_ = std::make_shared<CudaResidentLoop>(model_, stream_, waits_,
                                                   graphs_, shape);
    return [to = resident_](const Batch& batch) { to->Append(batch); };
  }

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override {
    if (resident_ != nullptr) {
      return resident_->Run(first_step, steps, infeed, outfeed);
    }
    return training_.Run(first_step, steps, infeed, outfeed);
  }

  [[nodiscard]] EvalSums Evaluate(Infeed& infeed) override {
    return evaluation_.Run(infeed);
  }

  [[nodiscard]] std::string Describe() const override {
    return std::string(", ") +
           at::cuda::getDeviceProperties(model_.device.index())->name +
           (graphs_.enabled() ? ", CUDA graphs" : ", no graphs");
  }

  [[nodiscard]] BatchMemory batch_memory() const override { return memory_; }

  [[nodiscard]] std::int64_t host_syncs() const override {
    return training_.syncs() + (resident_ ? resident_->syncs() : 0);
  }

  [[nodiscard]] int warm_up_steps() const override {
    return training_.warm_up_steps();
  }

 private:
  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits waits_;
  GraphPolicy graphs_;
  BatchMemory memory_;
  CudaLoop training_;
  CudaEvaluation evaluation_;
  std::shared_ptr<CudaResidentLoop> resident_;
};

}  // namespace

std::unique_ptr<DevicePasses> MakeCudaPasses(const DeviceModel& model) {
  return std::make_unique<CudaPasses>(model);
}

}  // namespace infeed
