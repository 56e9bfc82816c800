#include "trainer/feed/run_input.h"

namespace infeed {
namespace {

template <typename Input>
BatchSource SourceOf(Input& input, TraceLog* trace) {
  return {.next = [&input] { return input.Next(); },
          .stop = [&input] { input.Stop(); },
          .start = input.position(),
          .trace = trace};
}

}  // namespace

RunInput::RunInput(const RecordIndex* index, const InputOptions& options,
                   const StreamPosition& start, ImagePlace place)
    : trace_(options.trace) {
  if (index == nullptr) {
    fake_.emplace(options, start);
  } else if (place == ImagePlace::kDevice) {
    order_.emplace(*index, options, start);
  } else {
    pipeline_.emplace(*index, options, start);
  }
}

BatchSource RunInput::batches() {
  if (order_) {
    return SourceOf(*order_, trace_);
  }
  return pipeline_ ? SourceOf(*pipeline_, trace_) : SourceOf(*fake_, trace_);
}

PipelineStats RunInput::stats() const {
  if (order_) {
    return order_->stats();
  }
  return pipeline_ ? pipeline_->stats() : fake_->stats();
}

std::int64_t RunInput::batches_per_epoch() const {
  if (order_) {
    return order_->batches_per_epoch();
  }
  return pipeline_ ? pipeline_->batches_per_epoch() : 0;
}

std::int64_t RunInput::memory_bytes() const {
  if (order_) {
    return order_->memory_bytes();
  }
  return pipeline_ ? pipeline_->memory_bytes() : fake_->memory_bytes();
}

}  // namespace infeed
