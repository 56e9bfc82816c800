#include "pipeline/slots/range_filler.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.h"

namespace infeed {
namespace {

BatchHandle BatchOf(const InputOptions& options, int slots) {
  Check(slots >= 1 && slots <= FilledRange::kMostSlots,
        "a range has 1 to 64 slots");
  BatchSpec spec = BatchSpecOf(options);
  spec.size = slots;
  return BatchHandle(new Batch(std::move(spec)));
}

InputOptions WithoutDecisions(InputOptions options) {
  options.on_bad_record = OnBadRecord::kSkip;
  options.bad_record_report.clear();
  options.on_bad = nullptr;
  options.trace = nullptr;
  return options;
}

// The slots that somebody must decide about. After an error that says nothing
// of a record it is all of them.
std::uint64_t DeclinedOf(OpenBatch& open, std::size_t slots) {
  if (open.error()) {
    return ~std::uint64_t{0} >> (64 - slots);
  }
  std::uint64_t declined = 0;
  for (const BadRecord& bad : open.BadRecords()) {
    declined |= std::uint64_t{1} << bad.slot;
  }
  return declined;
}

}  // namespace

FilledRange::FilledRange(const InputOptions& options, int most_slots)
    : sample_(options),
      planned_{.plan = {.samples = most_slots},
               .records = std::vector<std::int64_t>(
                   static_cast<std::size_t>(most_slots), -1)} {
  open_.Begin(0, planned_, BatchOf(options, most_slots));
}

int FilledRange::cut_lists() const {
  int cut = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
    cut += (declined_ >> i & 1) == 0 ? cut_lists_[i] : 0;
  }
  return cut;
}

RangeFiller::RangeFiller(const RecordStore& store, const SeekStore& seek_store,
                         const InputOptions& options, RecordCache* cache,
                         FoundSeekIndexes* found)
    // Without substitutes the number of places does not matter.
    : filler_(store, seek_store, 1, WithoutDecisions(options), counters_, cache,
              found) {}

bool RangeFiller::Fill(std::span<const SlotRequest> slots,
                       const std::function<bool()>& is_cancelled,
                       FilledRange& range) {
  OpenBatch& open = range.open_;
  Check(!slots.empty() && slots.size() <= range.planned_.records.size(),
        "the range has room for the slots");
  // No slot is padding, which would be blanked for nobody.
  open.Begin(0, range.planned_, open.TakeBatch());
  Sample& sample = range.sample_;
  sample.batch = &open;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (is_cancelled()) {
      return false;
    }
    if (i + 1 < slots.size()) {
      filler_.WillReadNext(slots[i + 1].record);
    }
    sample.slot = static_cast<int>(i);
    sample.StartNow();
    counters_.waiting.Add(1);
    filler_.ReadAs(slots[i], sample);
    range.cut_lists_[i] = sample.cut_lists;
    filler_.Fill(sample);
  }
  range.size_ = static_cast<int>(slots.size());
  range.declined_ = DeclinedOf(open, slots.size());
  open.GatherFields();
  return true;
}

}  // namespace infeed
