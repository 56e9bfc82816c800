#include <string>

#include <ATen/cuda/CUDAContext.h>

#include "trainer/cuda_evaluation.h"
#include "trainer/cuda_loop.h"
#include "trainer/cuda_memory.h"
#include "trainer/device_passes.h"

namespace infeed {
namespace {

class CudaPasses final : public DevicePasses {
 public:
  explicit CudaPasses(const DeviceModel& model)
      : model_(model),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true,
                                             model.device.index())),
        training_(model, stream_, waits_),
        evaluation_(model, stream_, waits_) {}

  std::int64_t Train(std::int64_t first_step, std::int64_t steps,
                     Infeed& infeed, Outfeed& outfeed) override {
    return training_.Run(first_step, steps, infeed, outfeed);
  }

  [[nodiscard]] EvalSums Evaluate(Infeed& infeed) override {
    return evaluation_.Run(infeed);
  }

  [[nodiscard]] std::string Describe() const override {
    return std::string(", ") +
           at::cuda::getDeviceProperties(model_.device.index())->name +
           (model_.options.graphs ? ", CUDA graphs" : ", no graphs");
  }

  [[nodiscard]] BatchMemory batch_memory() const override {
    return PinnedBatchMemory(model_.device.index());
  }

  [[nodiscard]] std::int64_t host_syncs() const override {
    return training_.syncs();
  }

 private:
  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  CudaWaits waits_;
  CudaLoop training_;
  CudaEvaluation evaluation_;
};

}  // namespace

std::unique_ptr<DevicePasses> MakeCudaPasses(const DeviceModel& model) {
  return std::make_unique<CudaPasses>(model);
}

}  // namespace infeed
