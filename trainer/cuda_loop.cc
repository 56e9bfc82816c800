#include "trainer/cuda_loop.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/cuda_kernels.h"
#include "trainer/pixel_statistics.h"

namespace infeed {
namespace {

// Steps that may wait for a slow outfeed before the host does: 128 KiB.
constexpr std::size_t kRecords = 4096;

// Libraries and the allocator need three; communication, by PyTorch's advice,
// eleven.
CudaGraphOptions GraphsOf(const DeviceOptions& options) {
  return {.enabled = options.graphs,
          .slots = kCudaSlots,
          .warm_up = options.place.world_size > 1 ? 11 : 3};
}

// Mixed images are averages, which bfloat16 would round twice.
ImageType ImageTypeOf(const DeviceOptions& options, const StepInputs& inputs) {
  return options.precision == Precision::kBfloat16 && !inputs.mixes.defined()
             ? ImageType::kBfloat16
             : ImageType::kFloat32;
}

}  // namespace

CudaLoop::CudaLoop(const DeviceModel& model,
                   const c10::cuda::CUDAStream& stream, CudaWaits& waits)
    : model_(model),
      stream_(stream),
      waits_(waits),
      idle_(stream, kRecords),
      inputs_(model.device),
      records_(kRecords),
      results_(records_.host()),
      graphs_(
          GraphsOf(model.options), [this](int slot) { Step(slot); },
          model.generators, waits) {}

std::int64_t CudaLoop::Run(std::int64_t first_step, std::int64_t steps,
                           Infeed& infeed, Outfeed& outfeed) {
  const CudaStreamScope scope(stream_);
  const std::int64_t waits_before = waits_.count();
  if (inputs_.Load(model_.step.UploadTo(torch::kCPU, first_step, steps,
                                        infeed.image_size()),
                   first_step)) {
    graphs_.Reset();
  }
  const double waited_before = infeed.wait_seconds();
  infeed.LeaveWaitsToDevice();
  idle_.BeginLoop();
  std::int64_t done = 0;
  std::exception_ptr error;
  try {
    for (; done < steps; ++done) {
      BatchHandle batch = infeed.Next();
      if (!batch) {
        break;
      }
      Launch(first_step + done, std::move(batch), outfeed);
    }
  } catch (...) {
    error = std::current_exception();
  }
  // Also after an error: the updates before it are done, and told.
  End(error);
  // The infeed counts its first batch by itself.
  const double counted = infeed.wait_seconds() - waited_before;
  infeed.AddWait(std::max(0.0, idle_.Take() - counted));
  syncs_ += waits_.count() - waits_before;
  return done;
}

void CudaLoop::Launch(std::int64_t step, BatchHandle batch, Outfeed& outfeed) {
  UseShape({.size = batch->size(), .side = batch->image_size()});
  results_.Expect(step + 1, outfeed);
  const int slot = uploads_->Upload(std::move(batch));
  model_.step.Begin(step);
  idle_.BeginStep();
  graphs_.Run(slot);
  idle_.EndStep();
  uploads_->MarkUsed();
}

// A loop has one shape, so that nothing is under way when it changes.
void CudaLoop::UseShape(const BatchShape& shape) {
  if (slots_ != nullptr && slots_->shape() == shape) {
    return;
  }
  graphs_.Reset();
  uploads_.reset();
  slots_ = std::make_unique<CudaSlots>(shape, kCudaSlots, stream_);
  uploads_ = std::make_unique<UploadRing>(*slots_, kCudaSlots);
}

// What a graph holds: all of a step, from the packed batch to its result.
void CudaLoop::Step(int slot) {
  const StepInputs inputs = inputs_.Select();
  const DeviceBatch batch =
      slots_->Unpack(slot, StatisticsOf(model_.options.normalization),
                     ImageTypeOf(model_.options, inputs));
  const StepResults results = model_.step.Run(batch, inputs);
  LaunchEndStep({.loss = results.loss.data_ptr<float>(),
                 .top_1 = results.top_1.data_ptr<float>(),
                 .rate = inputs.rates.data_ptr<float>(),
                 .images = results.counted.data_ptr<float>()},
                {.ring = records_.device(),
                 .ring_records = static_cast<std::int64_t>(kRecords)},
                inputs_.clock(), stream_.stream());
}

void CudaLoop::End(std::exception_ptr error) {
  try {
    waits_.For(stream_);
  } catch (...) {
    // Where the host failed, the device may have for the same reason.
    error = error ? error : std::current_exception();
  }
  if (error) {
    // The device is done: a step that was never launched has no record.
    results_.Abandon();
    std::rethrow_exception(error);
  }
  results_.Finish();
}

}  // namespace infeed
