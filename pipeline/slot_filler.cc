#include "pipeline/slot_filler.h"

#include <limits>
#include <utility>

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

constexpr int kMaxBadInARow = 16;
constexpr std::int64_t kRgbBytes = 3;

// A preprocessor on loan for one sample.
class LentPreprocessor {
 public:
  using Queue = BoundedQueue<std::unique_ptr<Preprocessor>>;

  explicit LentPreprocessor(Queue& queue)
      : queue_(queue), preprocessor_(std::move(queue.Pop().value())) {}
  ~LentPreprocessor() { queue_.Push(std::move(preprocessor_)); }
  LentPreprocessor(const LentPreprocessor&) = delete;
  LentPreprocessor& operator=(const LentPreprocessor&) = delete;

  Preprocessor* operator->() { return preprocessor_.get(); }
  Preprocessor& operator*() { return *preprocessor_; }

 private:
  Queue& queue_;
  std::unique_ptr<Preprocessor> preprocessor_;
};

std::int32_t SlotLabel(std::int64_t label, int offset) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  // Compared on the side where nothing can overflow.
  if (label < kLow || label > kHigh || label - offset < kLow ||
      label - offset > kHigh) {
    throw DataError("image/class/label " + std::to_string(label) +
                    " does not fit 32 bits");
  }
  return static_cast<std::int32_t>(label - offset);
}

}  // namespace

SlotFiller::SlotFiller(const RecordStore& store, const SeekStore& seek_store,
                       std::int64_t records, const InputOptions& options,
                       StageCounters& counters)
    : store_(store),
      seek_store_(seek_store),
      records_(records),
      options_(options),
      counters_(counters),
      preprocessors_(static_cast<std::size_t>(options.threads)) {
  for (int i = 0; i < options.threads; ++i) {
    preprocessors_.Push(std::make_unique<Preprocessor>(
        PreprocessOptions{.recipe = options.recipe,
                          .interpolation = options.interpolation,
                          .training = options.training,
                          .image_size = options.image_size,
                          .scaled_decode = options.scaled_decode,
                          .limits = options.jpeg_limits}));
  }
}

void SlotFiller::Read(Sample& sample) {
  counters_.waiting.Add(-1);
  counters_.in_flight.Add(1);
  const BatchPlan& plan = sample.batch->plan();
  sample.key = {.seed = options_.seed,
                .epoch = plan.epoch,
                .position = static_cast<std::uint64_t>(plan.first) +
                            static_cast<std::uint64_t>(sample.slot)};
  sample.record = sample.batch->record(sample.slot);
  Load(sample);
}

void SlotFiller::Load(Sample& sample) {
  if (cancelled_.load(std::memory_order_relaxed)) {
    return;
  }
  const Clock::time_point start = Clock::now();
  std::size_t bytes = 0;
  sample.failure = nullptr;
  try {
    const RecordPayload payload =
        store_.ReadPayload(sample.record, sample.buffer);
    bytes = payload.bytes.size();
    sample.example = ParseImagenetExample(payload.bytes);
    if (options_.use_seek_indexes) {
      FindSeekIndex(payload, sample.example, sample.record, seek_store_,
                    sample.seek_index);
    }
  } catch (...) {
    sample.failure = std::current_exception();
  }
  const Clock::time_point end = Clock::now();
  counters_.read.Add(static_cast<std::int64_t>(bytes), end - start,
                     start - std::exchange(sample.since, end));
}

void SlotFiller::Fill(Sample& sample) {
  if (!cancelled_.load(std::memory_order_relaxed)) {
    try {
      FillOrThrow(sample);
    } catch (...) {
      sample.batch->Fail(sample.slot, std::current_exception());
    }
  }
  counters_.in_flight.Add(-1);
}

void SlotFiller::FillOrThrow(Sample& sample) {
  try {
    DecodeIntoSlot(sample);
  } catch (const DataError& error) {
    const DataError located = Located(sample, error);
    switch (options_.on_bad_record) {
      case OnBadRecord::kFail:
        throw DataError(located);
      case OnBadRecord::kReplace:
        FillWithSubstitute(sample);
        break;
      case OnBadRecord::kSkip:
        sample.batch->batch().BlankSlot(sample.slot);
        break;
    }
  }
}

void SlotFiller::FillWithSubstitute(Sample& sample) {
  SampleRandom draws(sample.key, RandomStream::kReplacement);
  // The sample's own record was the first bad one.
  for (int bad = 1;; ++bad) {
    sample.record = draws.Below(static_cast<std::uint32_t>(records_));
    sample.since = Clock::now();
    Load(sample);
    try {
      return DecodeIntoSlot(sample);
    } catch (const DataError& error) {
      const DataError located = Located(sample, error);
      if (bad + 1 == kMaxBadInARow) {
        throw DataError(located.origin(),
                        located.reason() + ": the last of " +
                            std::to_string(kMaxBadInARow) +
                            " bad records in a row; is this the right data?");
      }
    }
  }
}

void SlotFiller::DecodeIntoSlot(Sample& sample) {
  if (sample.failure) {
    std::rethrow_exception(std::exchange(sample.failure, nullptr));
  }
  Batch& batch = sample.batch->batch();
  const std::size_t slot = static_cast<std::size_t>(sample.slot);
  batch.labels()[slot] = SlotLabel(sample.example.label, options_.label_offset);
  LentPreprocessor preprocessor(preprocessors_);
  const ImagenetExampleView& example = sample.example;
  const std::span<std::uint32_t> pixels = batch.slot_pixels(sample.slot);
  const Clock::time_point start = Clock::now();
  FillCounts counts;
  if (example.packed.empty()) {
    counts = Decode(*preprocessor, sample, pixels);
  } else {  // Nothing to decode.
    preprocessor->CopyPacked(example.packed, example.height, example.width,
                             sample.key, pixels);
    counts.resize = Clock::now() - start;
  }
  batch.weights()[slot] = 1;
  counters_.decode.Add(counts.decoded_pixels * kRgbBytes, counts.decode,
                       start - sample.since);
  counters_.outside_pixels.fetch_add(counts.outside_pixels,
                                     std::memory_order_relaxed);
  counters_.resize.Add(static_cast<std::int64_t>(pixels.size_bytes()),
                       counts.resize, Clock::duration::zero());
}

FillCounts SlotFiller::Decode(Preprocessor& preprocessor, const Sample& sample,
                              std::span<std::uint32_t> pixels) {
  const std::optional<OpenedSeekIndex>& index = sample.seek_index.opened;
  const FillCounts counts =
      preprocessor.Fill(sample.example.encoded, sample.key, pixels,
                        index ? index->body : std::span<const std::byte>());
  if (const std::optional<DataError> refused =
          seek_counts_.Count(sample.seek_index, counts.index_use)) {
    seek_counts_.Refuse(sample.key,
                        refused->At(store_.OriginOf(sample.record)));
  }
  return counts;
}

DataError SlotFiller::Located(const Sample& sample, const DataError& error) {
  DataError located = error.origin().path.empty()
                          ? error.At(store_.OriginOf(sample.record))
                          : error;
  bad_records_.Count(sample.key, located);
  return located;
}

}  // namespace infeed
