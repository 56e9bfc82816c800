#include "trainer/cuda/step.h"

#include <algorithm>
#include <exception>
#include <string>

#include <ATen/ATen.h>

#include "trainer/feed/device_failure.h"
#include "trainer/model/normalization.h"

namespace infeed {
namespace {

// Mixed images are averages, so 16 bits would round twice. Where they are
// mixed, or a teacher's too, the network itself rearranges them.
UnpackedForm FormOf(const DeviceModel& model, const StepInputs& inputs,
                    const ImageSize& size) {
  if (inputs.mixes.defined()) {
    return {.precision = Precision::kFloat32};
  }
  return {.precision = model.options.precision,
          .space_to_depth = model.uses_space_to_depth &&
                            !model.step.has_teacher() && size.height % 2 == 0 &&
                            size.width % 2 == 0};
}

// Waits for the device and for the results. Returns how many launched steps did
// not run. Throws the device's failure, else `error` if it is set, else an
// error of the outfeed.
std::int64_t End(std::int64_t first_step, std::exception_ptr error,
                 const CudaLoopParts& parts) {
  try {
    parts.waits.For(parts.stream);
  } catch (...) {
    error = error ? error : std::current_exception();
  }
  if (error) {
    // The device is idle; a step that was not launched leaves no record.
    parts.results.Abandon();
    if (const auto words = parts.status.Failure()) {
      throw DeviceFailure(
          parts.stream.device().str(),
          "after step " +
              std::to_string(std::max(first_step, parts.results.last_done())),
          *words);
    }
    std::rethrow_exception(error);
  }
  if (parts.infeed.stop_token().stop_requested()) {
    return parts.results.FinishEarly();
  }
  parts.results.Finish();
  return 0;
}

}  // namespace

void RunCudaStep(const DeviceModel& model, const PackedImages& batch,
                 const BatchShape& shape, const CudaStepInputs& inputs,
                 const MappedRecords& records) {
  const StepInputs row = inputs.Select();
  const DeviceBatch images =
      UnpackOnDevice(batch, shape, StatisticsOf(model.options.normalization),
                     FormOf(model, row, shape.image_size));
  const StepResults results = model.step.Run(images, row);
  StepScalars scalars = {.loss = results.loss.data_ptr<float>(),
                         .top_1 = results.top_1.data_ptr<float>(),
                         .rate = row.rates.data_ptr<float>(),
                         .images = results.counted.data_ptr<float>()};
  if (results.loss_scale.defined()) {
    scalars.loss_scale = results.loss_scale.data_ptr<float>();
    scalars.skipped_steps = results.skipped_steps.data_ptr<std::int64_t>();
  }
  LaunchEndStep(scalars,
                {.records = records.device(),
                 .count = static_cast<std::int64_t>(kCudaRecords)},
                inputs.clock(), c10::cuda::getCurrentCUDAStream().stream());
}

std::int64_t RunCudaLoop(
    std::int64_t first_step, std::int64_t steps, const CudaLoopParts& parts,
    const std::function<std::int64_t(std::int64_t done)>& launch) {
  const double waited_before = parts.infeed.wait_seconds();
  parts.infeed.LeaveWaitsToDevice();
  parts.idle.BeginLoop();
  std::int64_t done = 0;
  std::exception_ptr error;
  try {
    for (std::int64_t count = -1; done < steps && count != 0; done += count) {
      count = launch(done);
    }
  } catch (...) {
    error = std::current_exception();
  }
  // Also after an error: earlier updates are done, and their results reported.
  done -= End(first_step, error, parts);
  // The infeed itself counts the wait for its first batch.
  const double counted = parts.infeed.wait_seconds() - waited_before;
  parts.infeed.AddWait(std::max(0.0, parts.idle.Take() - counted));
  return done;
}

}  // namespace infeed
