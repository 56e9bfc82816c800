#include "trainer/cuda/loop.h"

#include <utility>

namespace infeed {
namespace {

// Warm-up steps: libraries and the allocator need three; with communication
// PyTorch advises eleven.
SlotGraphOptions GraphsOf(const DeviceOptions& options) {
  return {.slots = kCudaSlots,
          .warm_up = options.place().world_size > 1 ? 11 : 3};
}

}  // namespace

CudaLoop::CudaLoop(const DeviceModel& model,
                   const c10::cuda::CUDAStream& stream, CudaWaits& waits,
                   GraphPolicy& policy)
    : model_(model),
      stream_(stream),
      waits_(waits),
      status_(model.device),
      idle_(stream, kCudaRecords),
      inputs_(model.device),
      records_(kCudaRecords),
      results_(records_.host(), [this] { status_.Check(); }),
      captured_(kCudaSlots,
                {.run = [this](int slot) { Step(slot); },
                 .generators = model.generators,
                 .undo = [this] { model_.step.Forget(); }},
                waits),
      graphs_(GraphsOf(model.options), policy, captured_) {}

std::int64_t CudaLoop::Run(std::int64_t first_step, std::int64_t steps,
                           Infeed& infeed, Outfeed& outfeed) {
  const CudaStreamScope scope(stream_);
  const std::int64_t waits_before = waits_.count();
  if (inputs_.Load(model_.step.UploadTo(torch::kCPU, first_step, steps,
                                        infeed.image_size()),
                   first_step)) {
    graphs_.Reset();
  }
  const std::int64_t done = RunCudaLoop(
      first_step, steps, {stream_, waits_, status_, idle_, results_, infeed},
      [&](std::int64_t before) {
        BatchHandle batch = infeed.Next();
        if (!batch) {
          return 0;
        }
        Launch(first_step + before, std::move(batch), outfeed);
        return 1;
      });
  syncs_ += waits_.count() - waits_before;
  return done;
}

void CudaLoop::Launch(std::int64_t step, BatchHandle batch, Outfeed& outfeed) {
  UseShape(ShapeOf(*batch));
  results_.Expect(step + 1, outfeed);
  const int slot = uploads_->Upload(std::move(batch));
  model_.step.Begin(step);
  idle_.BeginStep();
  graphs_.Run(slot);
  idle_.EndStep();
  uploads_->MarkUsed();
}

// A loop has one shape, so no step is running when the shape changes.
void CudaLoop::UseShape(const BatchShape& shape) {
  if (slots_ != nullptr && slots_->shape() == shape) {
    return;
  }
  graphs_.Reset();
  uploads_.reset();
  slots_ = std::make_unique<CudaSlots>(shape, kCudaSlots, stream_);
  uploads_ = std::make_unique<UploadRing>(*slots_, kCudaSlots);
}

// The work that a graph captures: a whole step.
void CudaLoop::Step(int slot) {
  RunCudaStep(model_, slots_->Packed(slot), slots_->shape(), inputs_, records_);
}

}  // namespace infeed
