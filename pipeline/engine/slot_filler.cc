#include "pipeline/engine/slot_filler.h"

#include <algorithm>
#include <utility>

#include "pipeline/order/label_class.h"
#include "pipeline/order/selection.h"
#include "pipeline/stats/trace_log.h"
#include "preprocess/pixels/unpack.h"
#include "records/bytes/crc32c.h"
#include "records/example/missing_label.h"

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
      seek_store_(seek_store),
      places_(places),
      options_(options),
      counters_(counters),
      cache_(cache),
      found_(found) {}

void SlotFiller::Read(Sample& sample) {
  counters_.waiting.Add(-1);
  counters_.in_flight.Add(1);
  const SamplePlace place = sample.batch->plan().SampleOf(sample.slot);
  sample.key = {.seed = options_.seed,
                .epoch = place.epoch,
                .position = static_cast<std::uint64_t>(place.position)};
  sample.record = sample.batch->record(sample.slot);
  sample.draw = 0;
  sample.access = Access::kInOrder;
  Load(sample);
}

void SlotFiller::Load(Sample& sample) {
  if (cancelled_.load(std::memory_order_relaxed)) {
    return;
  }
  const Clock::time_point start = Clock::now();
  std::size_t bytes = 0;
  sample.failure = nullptr;
  sample.payload = {};
  sample.open_rows = 0;
  sample.stage = BadRecordKind::kFrame;
  try {
    const CachedRecord record = ReadRecord(sample);
    bytes = record.payload.bytes.size();
    if (sample.example.encoded.empty() && sample.example.packed.empty()) {
      sample.stage = BadRecordKind::kImage;
      RequireImageKey(record.payload.bytes, options_.image_key);
    }
    if (sample.example.label == kNoLabel && options_.require_labels) {
      sample.stage = BadRecordKind::kLabel;
      throw DataError(WhyNoLabel(record.payload.bytes, options_.label_key));
    }
    if (options_.seek_index != SeekIndexes::kOff) {
      OpenIndex(record.payload, sample.example, record.seek_index,
                sample.seek_index);
    }
  } catch (...) {
    sample.failure = std::current_exception();
  }
  const Clock::time_point end = Clock::now();
  counters_.read.Add(static_cast<std::int64_t>(bytes), end - start,
                     start - std::exchange(sample.since, end));
  Trace("read", start, end, sample);
}

void SlotFiller::Parse(std::span<const std::byte> payload,
                       Sample& sample) const {
  sample.stage = BadRecordKind::kExample;
  sample.example =
      ParseImagenetExample(payload, LabelList::kAny, KeysOf(options_));
  sample.fields.resize(options_.fields.size());
  ReadFields(payload, options_.fields, options_.max_field_bytes, sample.fields);
}

CachedRecord SlotFiller::ReadRecord(Sample& sample) {
  if (cache_ != nullptr) {
    if (const std::optional<CachedRecord> kept = cache_->Find(sample.record)) {
      Parse(kept->payload.bytes, sample);
      return {.payload = kept->payload,
              .seek_index = found_ != nullptr
                                ? FindIndex(sample, kept->seek_index)
                                : kept->seek_index};
    }
  }
  sample.payload = store_.ReadPayload(sample.record, sample.buffer,
                                      sample.access, Verification::kLater);
  Parse(sample.payload.bytes, sample);
  // Packed pixels are verified while they are copied, unless a cache comes
  // first, which keeps good records only.
  if (sample.example.packed.empty() || cache_ != nullptr) {
    Verify(sample);
  }
  CachedRecord record = {.payload = sample.payload};
  if (options_.seek_index != SeekIndexes::kOff) {
    record.seek_index = FindIndex(sample, {});
  }
  if (cache_ != nullptr) {
    cache_->Keep(sample.record, record);
  }
  return record;
}

std::span<const std::byte> SlotFiller::FindIndex(
    Sample& sample, std::span<const std::byte> cached) const {
  if (!NeedsIndexBeside(sample.example)) {
    return {};
  }
  std::vector<std::byte>& buffer = sample.seek_index.buffer;
  if (found_ != nullptr) {
    const std::span<const std::byte> found =
        found_->Find(sample.record, buffer);
    if (!found.empty()) {
      return found;
    }
  }
  return cached.empty() ? seek_store_.Read(sample.record, buffer) : cached;
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
  const std::optional<DataError> error = DecodeIfGood(sample);
  if (!std::exchange(sample.payload, {}).IsWhole()) {
    // A mapped file lost bytes, perhaps while they were decoded. From now on it
    // is read.
    Load(sample);
    return TryFill(sample, bad);
  }
  if (error) {
    bad.push_back(Describe(sample, *error));
  }
  return !error;
}

std::optional<DataError> SlotFiller::DecodeIfGood(Sample& sample) {
  try {
    DecodeIntoSlot(sample);
    return std::nullopt;
  } catch (const DataError& error) {
    return Cause(sample, error);
  }
}

DataError SlotFiller::Cause(Sample& sample, const DataError& error) const {
  try {
    Verify(sample);
    return error;
  } catch (const DataError& damage) {
    return damage;
  }
}

void SlotFiller::Verify(Sample& sample,
                        std::optional<std::uint32_t> computed) const {
  const BadRecordKind stage =
      std::exchange(sample.stage, BadRecordKind::kFrame);
  store_.Verify(sample.record, sample.payload, computed);
  sample.stage = stage;
}

bool SlotFiller::FillWithSubstitute(Sample& sample,
                                    std::vector<BadRecord>& bad) {
  SampleRandom draws(sample.key, RandomStream::kReplacement);
  // The sample's own record was the first bad one.
  sample.access = Access::kApart;
  while (++sample.draw < kMaxBadInARow) {
    sample.record = DrawnRecord(sample.key, draws);
    sample.since = Clock::now();
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

std::int64_t SlotFiller::DrawnRecord(const SampleKey& key,
                                     SampleRandom& draws) const {
  const std::int64_t place = draws.Below(static_cast<std::uint32_t>(places_));
  return options_.selection
             ? options_.selection->RecordAt(key.seed, key.epoch, place)
             : place;
}

void SlotFiller::DecodeIntoSlot(Sample& sample) {
  if (sample.failure) {
    std::rethrow_exception(std::exchange(sample.failure, nullptr));
  }
  Batch& batch = sample.batch->batch();
  const std::size_t slot = static_cast<std::size_t>(sample.slot);
  sample.stage = BadRecordKind::kLabel;
  batch.labels()[slot] = ClassOf(sample.example.label, options_);
  sample.stage = BadRecordKind::kImage;
  const Clock::time_point start = Clock::now();
  FillCounts counts;
  if (batch.content() == BatchContent::kRgb) {
    counts = FillWords(sample, sample.words);
    const Clock::time_point filled = Clock::now();
    UnpackPixels(sample.words, batch.slot_rgb(sample.slot));
    counts.resize += Clock::now() - filled;
  } else {
    counts = FillWords(sample, batch.slot_pixels(sample.slot));
  }
  batch.weights()[slot] = 1;
  batch.records()[slot] = sample.record;
  sample.batch->SetFields(sample.slot, sample.fields);
  Count(counts, batch.image_bytes().size() / batch.labels().size(), start,
        sample);
}

FillCounts SlotFiller::FillWords(Sample& sample,
                                 std::span<std::uint32_t> words) {
  return sample.example.packed.empty() ? Decode(sample, words)
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
  Verify(sample,
         ExtendCrc32c(crc, payload.subspan(begin + example.packed.size())));
  return counts;
}

void SlotFiller::Count(const FillCounts& counts, std::size_t slot_bytes,
                       Clock::time_point start, const Sample& sample) {
  const auto bytes = static_cast<std::int64_t>(slot_bytes);
  counters_.decode.Add(counts.decoded_pixels * kRgbBytes, counts.decode,
                       start - sample.since);
  counters_.outside_pixels.fetch_add(counts.outside_pixels,
                                     std::memory_order_relaxed);
  counters_.resize.Add(bytes, counts.resize, Clock::duration::zero());
  // Decode and resize alternate row by row; the trace shows one after the
  // other.
  const Clock::time_point decoded = start + counts.decode;
  const Clock::time_point resized = decoded + counts.resize;
  Trace("decode", start, decoded, sample);
  Trace("resize", decoded, resized, sample);
  if (counts.augment > Clock::duration::zero()) {
    counters_.augment.Add(bytes, counts.augment, Clock::duration::zero());
    Trace("augment", resized, resized + counts.augment, sample);
  }
}

void SlotFiller::Trace(std::string_view stage, Clock::time_point start,
                       Clock::time_point end, const Sample& sample) const {
  TraceSpan(options_.trace, stage, start, end,
            {.epoch = sample.key.epoch,
             .position = static_cast<std::int64_t>(sample.key.position),
             .batch = sample.batch->number()});
}

FillCounts SlotFiller::Decode(Sample& sample, std::span<std::uint32_t> pixels) {
  const std::optional<OpenedSeekIndex>& index = sample.seek_index.opened;
  const bool looks = found_ != nullptr && sample.example.seek_index.empty();
  FillCounts counts = sample.preprocessor.Fill(
      sample.example.encoded, sample.key, pixels,
      index ? index->body : std::span<const std::byte>(),
      looks ? &sample.found_index : nullptr);
  if (looks) {
    sample.open_rows = counts.index_rows - counts.covered_rows;
    sample.index_is_wrong =
        index && (index->seal != SeekSeal::kGood ||
                  counts.index_use == JpegIndexUse::kRefused);
    seek_counts_.CountRows(counts.index_rows, counts.covered_rows,
                           !sample.found_index.empty());
    if (!sample.found_index.empty()) {
      KeepIndex(sample, sample.found_index, counts.found_rows);
    }
  }
  if (const std::optional<DataError> refused =
          seek_counts_.Count(sample.seek_index, counts.index_use)) {
    seek_counts_.Refuse(sample.key,
                        refused->At(store_.OriginOf(sample.record)));
  }
  if (!counts.warning.empty()) {
    BadRecord warned = Describe(sample, DataError(counts.warning));
    warned.kind = BadRecordKind::kWarning;
    warned.action = BadRecordAction::kUsed;
    sample.batch->AddBadRecord(std::move(warned));
  }
  return counts;
}

void SlotFiller::KeepIndex(const Sample& sample, std::string_view body,
                           int new_rows) {
  const std::string sealed = SealSeekIndex(body, sample.example.encoded);
  found_->Keep(sample.record, {.sealed = sealed,
                               .new_rows = new_rows,
                               .replaces = sample.index_is_wrong});
}

void SlotFiller::UseSpareTime(Sample& sample) {
  if (sample.open_rows > 0 && counters_.ready.depth() > 0 && !is_cancelled()) {
    const std::string body =
        sample.preprocessor.CompleteIndex(sample.example.encoded);
    if (!body.empty()) {
      KeepIndex(sample, body, sample.open_rows);
    }
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
