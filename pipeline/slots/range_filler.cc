#include "pipeline/slots/range_filler.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/sample.h"

namespace infeed {
namespace {

constexpr int kMostSlots = 64;

BatchHandle BatchOf(const InputOptions& options, int slots) {
  Check(slots >= 1 && slots <= kMostSlots, "a range has 1 to 64 slots");
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

struct FilledRange::Parts {
  Parts(const InputOptions& options, int most_slots)
      : sample(options),
        planned{.plan = {.samples = most_slots},
                .records = std::vector<std::int64_t>(
                    static_cast<std::size_t>(most_slots), -1)} {
    open.Begin(0, planned, BatchOf(options, most_slots));
  }

  // No slot is padding, which would be blanked for nobody.
  void Begin() {
    open.Begin(0, planned, open.TakeBatch());
    size = 0;
    declined = 0;
  }

  Sample sample;
  const PlannedBatch planned;
  OpenBatch open;
  int size = 0;
  std::uint64_t declined = 0;
  std::array<int, kMostSlots> cut_lists = {};  // of each slot
};

FilledRange::FilledRange(const InputOptions& options, int most_slots)
    : parts_(std::make_unique<Parts>(options, most_slots)) {}

FilledRange::~FilledRange() = default;

const Batch& FilledRange::batch() const { return parts_->open.batch(); }

int FilledRange::size() const { return parts_->size; }

std::uint64_t FilledRange::declined() const { return parts_->declined; }

int FilledRange::cut_lists() const {
  int cut = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size()); ++i) {
    cut += (declined() >> i & 1) == 0 ? parts_->cut_lists[i] : 0;
  }
  return cut;
}

std::exception_ptr FilledRange::error() const { return parts_->open.error(); }

RangeFiller::RangeFiller(const RecordStore& store, const SeekStore& seek_store,
                         const InputOptions& options, RecordCache* cache,
                         FoundSeekIndexes* found)
    // Without substitutes the number of places does not matter.
    : filler_(store, seek_store, 1, WithoutDecisions(options), counters_, cache,
              found) {}

bool RangeFiller::Fill(std::span<const SlotRequest> slots,
                       const std::function<bool()>& is_cancelled,
                       FilledRange& range) {
  FilledRange::Parts& parts = *range.parts_;
  Check(!slots.empty() && slots.size() <= parts.planned.records.size(),
        "the range has room for the slots");
  parts.Begin();
  Sample& sample = parts.sample;
  sample.batch = &parts.open;
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
    parts.cut_lists[i] = sample.cut_lists;
    filler_.Fill(sample);
  }
  parts.size = static_cast<int>(slots.size());
  parts.declined = DeclinedOf(parts.open, slots.size());
  parts.open.GatherFields();
  return true;
}

}  // namespace infeed
