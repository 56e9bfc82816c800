#include "trainer/cuda/evaluation.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <ATen/ATen.h>

#include "trainer/cuda/loop.h"
#include "trainer/feed/device_failure.h"
#include "trainer/model/normalization.h"

namespace infeed {
namespace {

// More than the host can be ahead, which slots and pool limit.
constexpr std::size_t kPassesAhead = 4096;

}  // namespace

CudaEvaluation::CudaEvaluation(const DeviceModel& model,
                               const c10::cuda::CUDAStream& stream,
                               CudaWaits& waits, GraphPolicy& policy)
    : model_(model),
      stream_(stream),
      waits_(waits),
      status_(model.device),
      idle_(stream, kPassesAhead),
      counter_(model.device, static_cast<int>(model.step.classes()),
               model.label_smoothing),
      // Nothing is random in evaluation mode.
      captured_(kCudaSlots,
                {.run = [this](int slot) { Pass(slot); },
                 .generators = [] { return std::vector<at::Generator>(); },
                 .undo = {}},
                waits),
      graphs_({.slots = kCudaSlots}, policy, captured_),
      outputs_(kCudaSlots) {}

EvalSums CudaEvaluation::Run(Infeed& infeed) {
  const CudaStreamScope scope(stream_);
  try {
    return RunPasses(infeed);
  } catch (...) {
    if (const auto words = status_.Failure()) {
      throw DeviceFailure(model_.device.str(), "in an evaluation", *words);
    }
    throw;
  }
}

EvalSums CudaEvaluation::RunPasses(Infeed& infeed) {
  counter_.Restart();
  const double waited_before = infeed.wait_seconds();
  infeed.LeaveWaitsToDevice();
  idle_.BeginLoop();
  while (BatchHandle batch = infeed.Next()) {
    UseShape(ShapeOf(*batch));
    const int slot = uploads_->Upload(std::move(batch));
    idle_.BeginStep();
    graphs_.Run(slot);
    const Output& output = outputs_[static_cast<std::size_t>(slot)];
    counter_.KeepScores(output.logits, output.batch);
    idle_.EndStep();
    uploads_->MarkUsed();
  }
  waits_.For(stream_);
  const double counted = infeed.wait_seconds() - waited_before;
  infeed.AddWait(std::max(0.0, idle_.Take() - counted));
  return counter_.Read();
}

void CudaEvaluation::UseShape(const BatchShape& shape) {
  if (slots_ != nullptr && slots_->shape() == shape) {
    return;
  }
  graphs_.Reset();
  outputs_.assign(kCudaSlots, {});
  uploads_.reset();
  slots_ = std::make_unique<CudaSlots>(shape, kCudaSlots, stream_);
  uploads_ = std::make_unique<UploadRing>(*slots_, kCudaSlots);
}

void CudaEvaluation::Pass(int slot) {
  const DeviceBatch batch =
      UnpackOnDevice(slots_->Packed(slot), slots_->shape(),
                     StatisticsOf(model_.options.normalization),
                     {.precision = model_.options.precision});
  const EvalViews& views = model_.options.eval_views;
  Output output = {.logits = MeanLogits(model_.forward, batch.images, views),
                   .batch = LabelsOfImages(batch, views.crops)};
  counter_.Count(output.logits, output.batch);
  outputs_[static_cast<std::size_t>(slot)] = std::move(output);
}

}  // namespace infeed
