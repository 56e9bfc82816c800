#include "preprocess/jpeg_entropy/seek_maker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/jpeg_entropy/seek_maker.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/mcu_stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Adds entries behind those of the index, up to the end of the scan, as offsets
// in the un-stuffed bytes of the stream. False: the scan is not regular.
bool FindRuns(const PlainJpeg& jpeg, PlainScratch& scratch,
              JpegSeekIndex& index) {
  // The last entry is the next run's first place.
  const bool is_new = index.entries.empty();
  McuStream stream = is_new ? McuStream(jpeg, scratch)
                            : McuStream(jpeg, scratch, index.entries.back());
  const auto note = [&] {
    index.entries.push_back(SeekEntryAt(stream.place()));
  };
  if (is_new) {
    note();
  }
  for (int row = index.covered_rows(); row < index.mcu_rows; ++row) {
    for (int x = 0; x < index.mcus_per_row; x += index.run) {
      if (!stream.Pass(std::min(index.run, index.mcus_per_row - x))) {
        return false;
      }
      note();
    }
  }
  return stream.AtEnd();
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {
namespace {

HWY_EXPORT(FindRuns);

}  // namespace

bool SeekIndexFits(const PlainJpeg& jpeg, const JpegSeekIndex& index) {
  const JpegScan& scan = jpeg.scan;
  if (scan.restart_interval != 0 || index.run < 1 || index.entries.empty() ||
      index.mcus_per_row != scan.mcus_per_row ||
      index.mcu_rows != scan.mcu_rows) {
    return false;
  }
  const int covered = index.covered_rows();
  return covered >= 1 && covered <= index.mcu_rows &&
         index.entries.size() == index.entry_count(covered) &&
         (index.is_complete() || index.run == index.mcus_per_row) &&
         index.entries.front().byte == scan.entropy_begin &&
         index.entries.back().byte >= scan.entropy_begin &&
         index.entries.back().byte <= jpeg.bytes.size();
}

SeekEntry SeekEntryAt(const ScanPlace& place) {
  return {.byte = static_cast<std::uint32_t>(place.bit / 8),
          .bit = static_cast<std::uint8_t>(place.bit % 8),
          .dc = {static_cast<std::int16_t>(place.dc[0]),
                 static_cast<std::int16_t>(place.dc[1]),
                 static_cast<std::int16_t>(place.dc[2])}};
}

void ToFileOffsets(const PlainJpeg& jpeg, std::size_t begin, std::size_t first,
                   JpegSeekIndex& index) {
  const std::byte* const start = jpeg.bytes.data() + begin;
  const std::byte* const end = jpeg.bytes.data() + jpeg.bytes.size();
  const std::byte* next = start;  // where to look for the next FF
  std::ptrdiff_t zeros = 0;       // stuffed zeros before `next`
  const auto find = [&](const std::byte* from) {
    const auto* found = static_cast<const std::byte*>(
        std::memchr(from, 0xFF, static_cast<std::size_t>(end - from)));
    return found == nullptr ? end : found;
  };
  const std::byte* mark = find(next);
  for (SeekEntry& entry : std::span(index.entries).subspan(first)) {
    // The FF at `mark` is un-stuffed byte mark - start - zeros.
    while (mark != end && mark - start - zeros < std::int64_t{entry.byte}) {
      ++zeros;
      next = mark + 2;
      mark = next < end ? find(next) : end;
    }
    entry.byte = static_cast<std::uint32_t>(static_cast<std::ptrdiff_t>(begin) +
                                            entry.byte + zeros);
  }
}

std::optional<JpegSeekIndex> MakePlainSeekIndex(const PlainJpeg& jpeg, int run,
                                                PlainScratch& scratch) {
  const JpegScan& scan = jpeg.scan;
  if (jpeg.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  JpegSeekIndex index;
  index.mcus_per_row = scan.mcus_per_row;
  index.mcu_rows = scan.mcu_rows;
  index.run = run == 0 ? scan.mcus_per_row : std::min(run, scan.mcus_per_row);
  // Limits the header's claim: each MCU has at least one bit.
  index.entries.reserve(
      std::min(index.entry_count(), jpeg.bytes.size() * 8 + 1));
  if (!HWY_DYNAMIC_DISPATCH(FindRuns)(jpeg, scratch, index)) {
    return std::nullopt;
  }
  ToFileOffsets(jpeg, scan.entropy_begin, 0, index);
  return index;
}

bool CompletePlainSeekIndex(const PlainJpeg& jpeg, PlainScratch& scratch,
                            JpegSeekIndex& index) {
  const std::size_t known = index.entries.size();
  const std::size_t begin = index.entries.back().byte;
  if (!SeekIndexFits(jpeg, index) ||
      !HWY_DYNAMIC_DISPATCH(FindRuns)(jpeg, scratch, index)) {
    return false;
  }
  ToFileOffsets(jpeg, begin, known, index);
  return true;
}

}  // namespace infeed
#endif  // HWY_ONCE
