#include "trainer/feed/infeed.h"

#include <chrono>
#include <string>

#include "base/error.h"

namespace infeed {
namespace {

std::string ShapeText(int size, const ImageSize& image_size) {
  return std::to_string(size) + " images of " +
         std::to_string(image_size.height) + " x " +
         std::to_string(image_size.width) + " pixels";
}

}  // namespace

Infeed::Infeed(std::shared_ptr<BatchStream> stream, int batch_size,
               const ImageSize& image_size, TraceLog* trace)
    : stream_(std::move(stream)),
      trace_(trace),
      batch_size_(batch_size),
      image_size_(image_size),
      mark_{.position = stream_->position()} {}

Infeed::~Infeed() { Stop(); }

void Infeed::SetBack(const FeedMark& mark) {
  Check(stop_.stop_requested(), "no batch follows those that were not used");
  mark_ = mark;
}

BatchHandle Infeed::Take() {
  try {
    return stop_.stop_requested() ? nullptr : stream_->Next();
  } catch (const StoppedError&) {
    return nullptr;  // A read interrupted by a signal just ends the stream.
  }
}

void Infeed::TakeModelClasses(Batch& batch) const {
  for (std::int32_t& label : batch.labels()) {
    const bool is_class = label >= 0 && label < std::ssize(to_model_);
    label = is_class ? to_model_[static_cast<std::size_t>(label)] : -1;
  }
}

BatchHandle Infeed::Next() {
  using Clock = TraceLog::Clock;
  EndStep();
  const Clock::time_point start = Clock::now();
  BatchHandle batch = Take();
  const Clock::time_point end = Clock::now();
  const std::chrono::duration<double> waited = end - start;
  if (!device_counts_ || !started_) {
    wait_seconds_ += waited.count();
  }
  TraceSpan(trace_, "input wait", start, end, step_place_);
  if (!std::exchange(started_, true)) {
    first_wait_seconds_ = waited.count();
  }
  if (!batch) {
    return nullptr;
  }
  if (batch->size() != batch_size_ || batch->image_size() != image_size_) {
    throw UsageError("the infeed takes batches of " +
                     ShapeText(batch_size_, image_size_) + ", not of " +
                     ShapeText(batch->size(), batch->image_size()));
  }
  if (!to_model_.empty()) {
    TakeModelClasses(*batch);
  }
  if (show_first_) {
    std::exchange(show_first_, nullptr)(*batch);
  }
  mark_.position = batch->next;
  mark_.fingerprint += batch->fingerprint();
  if (trace_ != nullptr) {
    step_start_ = end;
  }
  return batch;
}

void Infeed::EndStep() {
  if (const auto start = std::exchange(step_start_, std::nullopt)) {
    trace_->Span("step", *start, TraceLog::Clock::now(), step_place_);
    ++step_place_.batch;
  }
  step_place_.epoch = mark_.position.epoch;
  step_place_.position = mark_.position.position;
}

}  // namespace infeed
