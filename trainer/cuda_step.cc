#include "trainer/cuda_step.h"

#include <cstdint>

#include <ATen/ATen.h>

#include "trainer/pixel_statistics.h"

namespace infeed {
namespace {

// Mixed images are averages, which bfloat16 would round twice.
ImageType ImageTypeOf(const DeviceOptions& options, const StepInputs& inputs) {
  return options.precision == Precision::kBfloat16 && !inputs.mixes.defined()
             ? ImageType::kBfloat16
             : ImageType::kFloat32;
}

}  // namespace

void RunCudaStep(const DeviceModel& model, const PackedImages& batch,
                 const BatchShape& shape, const CudaStepInputs& inputs,
                 const MappedRecords& records) {
  const StepInputs row = inputs.Select();
  const DeviceBatch images =
      UnpackOnDevice(batch, shape, StatisticsOf(model.options.normalization),
                     ImageTypeOf(model.options, row));
  const StepResults results = model.step.Run(images, row);
  LaunchEndStep({.loss = results.loss.data_ptr<float>(),
                 .top_1 = results.top_1.data_ptr<float>(),
                 .rate = row.rates.data_ptr<float>(),
                 .images = results.counted.data_ptr<float>()},
                {.ring = records.device(),
                 .ring_records = static_cast<std::int64_t>(kCudaRecords)},
                inputs.clock(), c10::cuda::getCurrentCUDAStream().stream());
}

void EndCudaLoop(std::exception_ptr error, const c10::cuda::CUDAStream& stream,
                 CudaWaits& waits, ResultRing& results) {
  try {
    waits.For(stream);
  } catch (...) {
    // Where the host failed, the device may have for the same reason.
    error = error ? error : std::current_exception();
  }
  if (error) {
    // The device is done: a step that was never launched has no record.
    results.Abandon();
    std::rethrow_exception(error);
  }
  results.Finish();
}

}  // namespace infeed
