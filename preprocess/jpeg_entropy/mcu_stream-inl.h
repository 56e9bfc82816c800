// Per-target code: included once for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_MCU_STREAM_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_MCU_STREAM_INL_H_
#undef INFEED_PREPROCESS_JPEG_MCU_STREAM_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_MCU_STREAM_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "preprocess/jpeg_entropy/entropy-inl.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/jpeg_entropy/unstuff-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

inline std::span<const std::uint8_t> AsUnsigned(
    std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

// Reads the MCUs of a scan in order, across restart markers. Every call returns
// false for irregular data.
class McuStream {
 public:
  McuStream(const PlainJpeg& jpeg, PlainScratch& scratch)
      : jpeg_(jpeg),
        rest_(AsUnsigned(jpeg.bytes).subspan(jpeg.scan.entropy_begin)),
        coded_(scratch.coded) {
    Begin();
  }
  // The MCUs from an entry of a seek index on. Requires: the index fits the
  // JPEG (SeekIndexFits()).
  McuStream(const PlainJpeg& jpeg, PlainScratch& scratch, const SeekEntry& from)
      : jpeg_(jpeg),
        rest_(AsUnsigned(jpeg.bytes).subspan(from.byte)),
        coded_(scratch.coded) {
    Begin();
    place_ = {.bit = from.bit, .dc = {from.dc[0], from.dc[1], from.dc[2]}};
  }

  // As the functions of the same names.
  [[nodiscard]] bool Decode(int mcus, std::int16_t* coefficients,
                            std::uint8_t* ends) {
    const int blocks = jpeg_.layout.blocks;
    return InSegments(mcus, [&](int count) {
      if (!DecodeMcus(jpeg_.layout, bytes_, count, place_, coefficients,
                      ends)) {
        return false;
      }
      coefficients += std::ptrdiff_t{64} * count * blocks;
      ends += std::ptrdiff_t{1} * count * blocks;
      return true;
    });
  }
  [[nodiscard]] bool Pass(int mcus) {
    return InSegments(mcus, [&](int count) {
      return PassMcus(jpeg_.layout, bytes_, count, place_);
    });
  }

  // Whether the scan and the image end here.
  [[nodiscard]] bool AtEnd() const {
    return SegmentIsUsed() && rest_.size() >= 2 && rest_[0] == 0xFF &&
           rest_[1] == 0xD9;
  }

  // Whether the bytes end without a marker so close behind this place that
  // libjpeg, which reads 57 to 64 bits ahead, may have reached the end.
  [[nodiscard]] bool NearsFileEnd() const {
    const bool at_marker =
        rest_.size() >= 2 && rest_[0] == 0xFF && rest_[1] != 0xFF;
    return !at_marker && bytes_.size * 8 - place_.bit < 64;
  }

  // Where the next MCU begins, in un-stuffed bytes since the stream's start.
  [[nodiscard]] const ScanPlace& place() const { return place_; }
  // Goes on to a later place. Requires: no restart markers.
  void MoveTo(const ScanPlace& place) { place_ = place; }
  // The bytes up to the next marker.
  [[nodiscard]] const ScanBytes& bytes() const { return bytes_; }

 private:
  void Begin() {
    // Room for a whole vector, then the slack.
    coded_.Grow(rest_.size() + 64 + kScanSlack);
    TakeSegment();
  }

  // Un-stuffs the bytes up to the next marker.
  void TakeSegment() {
    std::uint8_t* out = coded_.data();
    const std::uint8_t* const begin = rest_.data();
    const std::uint8_t* const end = Unstuff(begin, begin + rest_.size(), out);
    rest_ = rest_.subspan(static_cast<std::size_t>(end - begin));
    std::memset(out, 0, kScanSlack);
    bytes_ = {coded_.data(), static_cast<std::size_t>(out - coded_.data())};
    place_ = {};
    left_ = jpeg_.scan.restart_interval > 0 ? jpeg_.scan.restart_interval
                                            : std::numeric_limits<int>::max();
  }

  // Whether less than a byte of the segment is left.
  [[nodiscard]] bool SegmentIsUsed() const {
    return bytes_.size * 8 - place_.bit < 8;
  }

  // Skips the restart marker that must be here.
  [[nodiscard]] bool Restart() {
    constexpr std::uint8_t kFirstRestart = 0xD0;
    if (!SegmentIsUsed() || rest_.size() < 2 || rest_[0] != 0xFF ||
        rest_[1] != kFirstRestart + restarts_ % 8) {
      return false;
    }
    ++restarts_;
    rest_ = rest_.subspan(2);
    TakeSegment();
    return true;
  }

  // Calls step(count) for MCUs that lie in one segment.
  template <typename Step>
  [[nodiscard]] bool InSegments(int mcus, Step step) {
    while (mcus > 0) {
      if (left_ == 0 && !Restart()) {
        return false;
      }
      const int count = std::min(mcus, left_);
      if (!step(count)) {
        return false;
      }
      left_ -= count;
      mcus -= count;
    }
    return true;
  }

  const PlainJpeg& jpeg_;
  std::span<const std::uint8_t> rest_;  // from the next marker
  AlignedBuffer<std::uint8_t>& coded_;
  ScanBytes bytes_;
  ScanPlace place_;
  int left_ = 0;  // MCUs before the next restart marker
  int restarts_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_MCU_STREAM_INL_H_
