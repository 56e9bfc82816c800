#include "pipeline/remote/range_check.h"

#include <array>
#include <cstddef>

#include "base/random.h"

namespace infeed {
namespace {

std::string TextOfPlace(const SlotRequest& slot) {
  return "epoch " + std::to_string(slot.epoch) + ", position " +
         std::to_string(slot.position) + ", record " +
         std::to_string(slot.record);
}

}  // namespace

InputOptions OptionsOfWorkers(InputOptions options) {
  if (options.layout != BatchContent::kNone) {
    options.layout = BatchContent::kRgb;
  }
  return options;
}

RangeComparison CompareRanges(std::span<const SlotRequest> slots,
                              const FilledSlots& filled,
                              const FilledRange& here) {
  RangeComparison comparison;
  const std::uint64_t declined = filled.declined() | here.declined();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if ((declined >> i & 1) != 0) {
      continue;
    }
    ++comparison.compared;
    const std::string difference = filled.Difference(i, here);
    if (!difference.empty() && comparison.differing++ == 0) {
      comparison.difference = TextOfPlace(slots[i]) + ": " + difference;
    }
  }
  return comparison;
}

RangeCheck::RangeCheck(const RecordStore& store, const SeekStore& seek_store,
                       const InputOptions& options, int slots)
    : filler_(store, seek_store, OptionsOfWorkers(options)),
      range_(filler_.options(), slots) {}

std::optional<std::string> RangeCheck::Difference(
    std::span<const SlotRequest> slots, const FilledSlots& filled,
    const std::function<bool()>& is_cancelled) {
  const std::lock_guard lock(mutex_);
  if (!filler_.Fill(slots, is_cancelled, range_)) {
    return std::nullopt;
  }
  return CompareRanges(slots, filled, range_).difference;
}

bool RangeCheck::IsChosen(std::span<const SlotRequest> slots,
                          std::int64_t every) {
  if (every == 0) {
    return false;
  }
  const auto position = static_cast<std::uint64_t>(slots.front().position);
  const std::array<std::uint32_t, 4> words = Philox4x32(
      {slots.front().epoch, 0}, {static_cast<std::uint32_t>(position),
                                 static_cast<std::uint32_t>(position >> 32)});
  const std::uint64_t hash = std::uint64_t{words[1]} << 32 | words[0];
  return hash % static_cast<std::uint64_t>(every) == 0;
}

}  // namespace infeed
