#include "preprocess/jpeg_entropy/seek_maker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/jpeg_entropy/seek_maker.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/mcu_stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Records where each run begins, and the end, as offsets in un-stuffed bytes.
// False: the scan is not regular.
bool FindRuns(const PlainJpeg& jpeg, PlainScratch& scratch,
              JpegSeekIndex& index) {
  McuStream stream(jpeg, scratch);
  const auto note = [&] {
    const ScanPlace& place = stream.place();
    index.entries.push_back({.byte = static_cast<std::uint32_t>(place.bit / 8),
                             .bit = static_cast<std::uint8_t>(place.bit % 8),
                             .dc = {static_cast<std::int16_t>(place.dc[0]),
                                    static_cast<std::int16_t>(place.dc[1]),
                                    static_cast<std::int16_t>(place.dc[2])}});
  };
  for (int row = 0; row < index.mcu_rows; ++row) {
    for (int x = 0; x < index.mcus_per_row; x += index.run) {
      note();
      if (!stream.Pass(std::min(index.run, index.mcus_per_row - x))) {
        return false;
      }
    }
  }
  note();
  return stream.AtEnd();
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {
namespace {

HWY_EXPORT(FindRuns);

// Converts offsets in un-stuffed bytes to offsets in the JPEG, which also has a
// zero behind each FF.
void FindOffsets(const PlainJpeg& jpeg, JpegSeekIndex& index) {
  const std::byte* const begin = jpeg.bytes.data() + jpeg.scan.entropy_begin;
  const std::byte* const end = jpeg.bytes.data() + jpeg.bytes.size();
  const std::byte* next = begin;  // where to look for the next FF
  std::ptrdiff_t zeros = 0;       // stuffed zeros before `next`
  const auto find = [&](const std::byte* from) {
    const auto* found = static_cast<const std::byte*>(
        std::memchr(from, 0xFF, static_cast<std::size_t>(end - from)));
    return found == nullptr ? end : found;
  };
  const std::byte* mark = find(next);
  for (SeekEntry& entry : index.entries) {
    // The FF at `mark` is un-stuffed byte mark - begin - zeros.
    while (mark != end && mark - begin - zeros < std::ptrdiff_t{entry.byte}) {
      ++zeros;
      next = mark + 2;
      mark = next < end ? find(next) : end;
    }
    entry.byte = static_cast<std::uint32_t>(
        static_cast<std::ptrdiff_t>(jpeg.scan.entropy_begin) + entry.byte +
        zeros);
  }
}

}  // namespace

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
      std::min(static_cast<std::size_t>(index.mcu_rows) * index.runs_per_row(),
               jpeg.bytes.size() * 8) +
      1);
  if (!HWY_DYNAMIC_DISPATCH(FindRuns)(jpeg, scratch, index)) {
    return std::nullopt;
  }
  FindOffsets(jpeg, index);
  return index;
}

}  // namespace infeed
#endif  // HWY_ONCE
