#include "pipeline/slots/slot_filler.h"

#include <exception>
#include <string>
#include <utility>

#include "pipeline/order/label_class.h"
#include "pipeline/order/selection.h"
#include "pipeline/slots/rgb_slot.h"
#include "pipeline/slots/sample_loader.h"
#include "pipeline/slots/slot_fingerprint.h"
#include "pipeline/stats/stage_scope.h"
#include "pipeline/stats/trace_log.h"
#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

constexpr int kMaxBadInARow = 16;
constexpr std::int64_t kRgbBytes = 3;

}  // namespace

SlotFiller::SlotFiller(const RecordStore& store, const SeekStore& seek_store,
                       std::int64_t places, const InputOptions& options,
                       StageCounters& counters, RecordCache* cache,
                       FoundSeekIndexes* found)
    : store_(store),
      places_(places),
      options_(options),
      reads_labels_(ReadsLabels(options)),
      counters_(counters),
      seek_indexes_(options.seek_index, store, seek_store, found),
      loader_(store, seek_indexes_, options_, counters, cache) {}

void SlotFiller::Read(Sample& sample) {
  ReadAs(RequestOf(sample.batch->plan(), sample.slot,
                   sample.batch->record(sample.slot)),
         sample);
}

void SlotFiller::ReadAs(const SlotRequest& request, Sample& sample) {
  counters_.waiting.Add(-1);
  counters_.in_flight.Add(1);
  sample.key = {.seed = options_.seed,
                .epoch = request.epoch,
                .position = static_cast<std::uint64_t>(request.position)};
  sample.record = request.record;
  sample.draw = 0;
  sample.access = Access::kInOrder;
  Load(sample);
}

void SlotFiller::Load(Sample& sample) const {
  if (!is_cancelled()) {
    loader_.Load(sample);
  }
}

void SlotFiller::Fill(Sample& sample) {
  if (!is_cancelled()) {
    try {
      FillOrThrow(sample);
    } catch (...) {
      sample.batch->Fail(sample.slot, std::current_exception());
    }
  }
  counters_.in_flight.Add(-1);
}

void SlotFiller::FillOrThrow(Sample& sample) {
  std::vector<BadRecord> bad;  // Allocates only if there is one.
  if (TryFill(sample, bad)) {
    return;
  }
  BadRecordAction action = BadRecordAction::kFailed;
  switch (options_.on_bad_record) {
    case OnBadRecord::kByMode:  // Not in checked options.
    case OnBadRecord::kFail:
      break;
    case OnBadRecord::kReplace:
      if (FillWithSubstitute(sample, bad)) {
        action = BadRecordAction::kReplaced;
      }
      break;
    case OnBadRecord::kSkip:
      sample.batch->batch().BlankSlot(sample.slot);
      action = BadRecordAction::kSkipped;
      break;
  }
  for (BadRecord& one : bad) {
    one.action = action;
    if (action == BadRecordAction::kReplaced) {
      one.replaced_by = store_.OriginOf(sample.record);
    }
    sample.batch->AddBadRecord(one);
  }
  if (action == BadRecordAction::kFailed) {
    throw DataError(bad.back().error);
  }
}

bool SlotFiller::TryFill(Sample& sample, std::vector<BadRecord>& bad) {
  const std::optional<DataError> error = FillIfGood(sample);
  if (!std::exchange(sample.payload, {}).IsWhole()) {
    // A mapped file lost bytes, perhaps while they were decoded. From now on it
    // is read.
    sample.StartNow();
    Load(sample);
    return TryFill(sample, bad);
  }
  if (error) {
    bad.push_back(Describe(sample, *error));
  }
  return !error;
}

std::optional<DataError> SlotFiller::FillIfGood(Sample& sample) {
  try {
    FillSlot(sample);
    return std::nullopt;
  } catch (const DataError& error) {
    return loader_.CauseOf(error, sample);
  }
}

bool SlotFiller::FillWithSubstitute(Sample& sample,
                                    std::vector<BadRecord>& bad) {
  SampleRandom draws(sample.key, RandomStream::kReplacement);
  // The sample's own record was the first bad one.
  sample.access = Access::kApart;
  while (++sample.draw < kMaxBadInARow) {
    sample.record = DrawRecord(sample.key, draws);
    sample.StartNow();
    Load(sample);
    if (TryFill(sample, bad)) {
      return true;
    }
  }
  const DataError& last = bad.back().error;
  bad.back().error =
      DataError(last.origin(), last.reason() + ": the last of " +
                                   std::to_string(kMaxBadInARow) +
                                   " bad records in a row; is this the right "
                                   "data?");
  return false;
}

std::int64_t SlotFiller::DrawRecord(const SampleKey& key,
                                    SampleRandom& draws) const {
  const std::int64_t place = draws.Below(static_cast<std::uint32_t>(places_));
  return options_.selection
             ? options_.selection->RecordAt(key.seed, key.epoch, place)
             : place;
}

void SlotFiller::FillSlot(Sample& sample) {
  if (sample.failure) {
    std::rethrow_exception(std::exchange(sample.failure, nullptr));
  }
  Batch& batch = sample.batch->batch();
  const std::size_t slot = static_cast<std::size_t>(sample.slot);
  sample.stage = BadRecordKind::kLabel;
  batch.labels()[slot] =
      reads_labels_ ? ClassOf(sample.example.label, options_) : -1;
  SlotMaking making = {
      .epoch = sample.key.epoch,
      .position = static_cast<std::int64_t>(sample.key.position)};
  if (batch.content() != BatchContent::kNone) {
    making.made = FillImages(sample);
  }
  batch.weights()[slot] = 1;
  batch.records()[slot] = sample.record;
  batch.fingerprints()[slot] =
      SlotFingerprint(HashRecord({.record = sample.record,
                                  .payload_bytes = sample.payload_bytes,
                                  .stored_crc = sample.stored_crc,
                                  .label = batch.labels()[slot]}),
                      making);
  sample.batch->SetFields(sample.slot, sample.fields);
}

std::uint64_t SlotFiller::FillImages(Sample& sample) {
  sample.stage = BadRecordKind::kImage;
  Batch& batch = sample.batch->batch();
  const Clock::time_point start = sample.since;
  FillCounts counts = FillImage(sample);
  batch.geometry()[static_cast<std::size_t>(sample.slot)] = counts.geometry;
  if (!options_.views.empty()) {
    counts.Add(FillViews(sample));
  }
  Warn(counts.warning, sample);
  if (options_.objects.is_on()) {
    sample.stage = BadRecordKind::kExample;
    FollowObjects(options_.objects, counts.geometry, batch.image_size(),
                  sample);
  }
  sample.since = Clock::now();
  Count(counts, batch.slot_image_bytes(), start, sample);
  return counts.made;
}

FillCounts SlotFiller::FillImage(Sample& sample) {
  Batch& batch = sample.batch->batch();
  const auto fill = [&](std::span<std::uint32_t> words) {
    return FillWords(sample, words);
  };
  return batch.content() == BatchContent::kRgb
             ? FillRgbSlot(sample.words, batch.slot_rgb(sample.slot), fill)
             : fill(batch.slot_pixels(sample.slot));
}

FillCounts SlotFiller::FillViews(Sample& sample) {
  return sample.views.Fill({.example = sample.example,
                            .key = sample.key,
                            .seek_index = sample.seek_index.best(),
                            .boxes = BoxesOf(sample),
                            .words = sample.words},
                           sample.slot, sample.batch->batch());
}

FillCounts SlotFiller::FillWords(Sample& sample,
                                 std::span<std::uint32_t> words) {
  return sample.example.packed.empty()
             ? seek_indexes_.Decode(sample, words, BoxesOf(sample))
             : CopyPacked(sample, words);
}

FillCounts SlotFiller::CopyPacked(Sample& sample,
                                  std::span<std::uint32_t> words) {
  const ImagenetExampleView& example = sample.example;
  const auto copy = [&](const auto& on_piece) {
    return sample.preprocessor.CopyPacked(example.packed, example.height,
                                          example.width, sample.key, words,
                                          on_piece);
  };
  if (!sample.payload.unverified_crc32c) {
    return copy(nullptr);
  }
  const std::span<const std::byte> payload = sample.payload.bytes;
  const auto begin =
      static_cast<std::size_t>(example.packed.data() - payload.data());
  std::uint32_t crc = Crc32c(payload.first(begin));
  FillCounts counts = copy([&crc](std::span<const std::byte> piece) {
    crc = ExtendCrc32c(crc, piece);
  });
  loader_.Verify(
      sample,
      ExtendCrc32c(crc, payload.subspan(begin + example.packed.size())));
  return counts;
}

void SlotFiller::Count(const FillCounts& counts, std::size_t slot_bytes,
                       Clock::time_point start, const Sample& sample) const {
  const auto bytes = static_cast<std::int64_t>(slot_bytes);
  const TracePlace place = sample.place();
  // Decode and resize alternate row by row; the trace shows one after the
  // other.
  const Clock::time_point decoded = start + counts.decode;
  const Clock::time_point resized = decoded + counts.resize;
  CountSpan(counters_.decode, options_.trace, place,
            {.start = start,
             .busy = counts.decode,
             .bytes = counts.decoded_pixels * kRgbBytes});
  counters_.outside_pixels.fetch_add(counts.outside_pixels,
                                     std::memory_order_relaxed);
  CountSpan(counters_.resize, options_.trace, place,
            {.start = decoded, .busy = counts.resize, .bytes = bytes});
  if (counts.augment > Clock::duration::zero()) {
    CountSpan(counters_.augment, options_.trace, place,
              {.start = resized, .busy = counts.augment, .bytes = bytes});
  }
}

BoxSource SlotFiller::BoxesOf(Sample& sample) const {
  if (!options_.objects.is_on()) {
    return {};
  }
  return [&](const ImageSize& source) {
    sample.stage = BadRecordKind::kExample;
    const auto read = ReadSampleBoxes(options_.objects, source, sample);
    sample.stage = BadRecordKind::kImage;
    return read;
  };
}

void SlotFiller::Warn(const std::string& warning, const Sample& sample) const {
  if (!warning.empty()) {
    BadRecord warned = Describe(sample, DataError(warning));
    warned.kind = BadRecordKind::kWarning;
    warned.action = BadRecordAction::kUsed;
    sample.batch->AddBadRecord(std::move(warned));
  }
}

void SlotFiller::UseSpareTime(Sample& sample) {
  if (sample.seek_index.open_rows > 0 && counters_.ready.depth() > 0 &&
      !is_cancelled()) {
    seek_indexes_.Complete(sample);
    sample.since = Clock::now();
  }
}

BadRecord SlotFiller::Describe(const Sample& sample,
                               const DataError& error) const {
  return {.slot = sample.slot,
          .epoch = sample.key.epoch,
          .position = static_cast<std::int64_t>(sample.key.position),
          .draw = sample.draw,
          .record = sample.record,
          .kind = sample.stage,
          .error = error.origin().path.empty()
                       ? error.At(store_.OriginOf(sample.record))
                       : error};
}

}  // namespace infeed
