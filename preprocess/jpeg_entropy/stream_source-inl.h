// Makes the streams of a scan, and completes the blocks that they decode.
#if defined(INFEED_PREPROCESS_JPEG_STREAM_SOURCE_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_STREAM_SOURCE_INL_H_
#undef INFEED_PREPROCESS_JPEG_STREAM_SOURCE_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_STREAM_SOURCE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// State that the streams of a scan share. Must outlive them; owns no
// coefficients.
class StreamSource {
 public:
  // The most blocks that a stream decodes before its next stop.
  static constexpr int kChunk = 48;

  explicit StreamSource(const McuLayout& layout) : blocks_(layout.blocks) {
    for (int b = 0; b < blocks_; ++b) {
      const McuLayout::Block& block = layout.block[b];
      kinds_[b] = {block.ac, block.dc, &kinds_[(b + 1) % blocks_],
                   layout.block[(b + 1) % blocks_].dc};
      ++blocks_of_[block.component];
    }
  }
  StreamSource(const StreamSource&) = delete;
  StreamSource& operator=(const StreamSource&) = delete;

  // A stream that is to decode MCUs from a bit on, with no room for any yet.
  // The block that it begins is clear, and the loop clears each next one, so
  // that nothing is left of a run that led beyond a block. ends: for a BlockEnd
  // of each block.
  [[nodiscard]] Stream Begin(const ScanBytes& bytes, std::size_t bit,
                             std::int16_t* coefficients,
                             std::uint64_t* ends) const {
    const std::uint8_t* const next = bytes.data + bit / 8;
    Stream s = {.bits = (BigEndian(next) | 1) << bit % 8,
                .place = kFirst,
                .entry = 0,
                .memory = {.next = next,
                           .block = coefficients,
                           .kind = kinds_.data(),
                           .end = ends,
                           .stop = ends,
                           .ac = kinds_[0].ac}};
    ClearBlock(coefficients);
    LookUp(s, *kinds_[0].dc);
    return s;
  }

  // A stream that does nothing: it keeps writing to the place before a block.
  [[nodiscard]] Stream Idle() {
    return {.bits = 1,
            .place = kFirst,
            .entry = FusedEntry::kStop,
            .memory = {.next = no_bytes_.data(),
                       .block = no_block_.data() + 1,
                       .kind = nullptr,
                       .end = &no_end_,
                       .stop = nullptr,
                       .ac = &StopTable()}};
  }

  // Gives a stream that is at its stop room for more MCUs, at most `most`, and
  // only as many as kChunk blocks and as cannot read beyond the slack; returns
  // their number, at least 1. Requires: the stream is inside the bytes.
  int Continue(Stream& s, const ScanBytes& bytes, int most) const {
    constexpr std::size_t kBlockBytes = 64 * 31 / 8;
    const auto rest =
        static_cast<std::size_t>(bytes.data + bytes.size - s.memory.next) +
        (kScanSlack - 64);
    const int room =
        static_cast<int>(std::min<std::size_t>(rest / kBlockBytes, kChunk));
    const int mcus = std::min(most, room / blocks_);
    const int blocks = mcus * blocks_;
    s.memory.stop = s.memory.end + blocks;
    return mcus;
  }

  // Completes decoded MCUs: adds up their DC values from place on, which moves
  // behind them. ends: as DecodeMcus() writes them. False: irregular.
  [[nodiscard]] bool Finish(const ScanBytes& bytes, int mcus,
                            std::int16_t* coefficients,
                            const std::uint64_t* block_ends, std::uint8_t* ends,
                            ScanPlace& place) const {
    std::uint32_t wide = 0;  // beyond 16 bits where a DC value is
    for (int mcu = 0; mcu < mcus; ++mcu) {
      for (std::size_t i = 0; i < blocks_of_.size(); ++i) {
        int dc = place.dc[i];
        for (int b = 0; b < blocks_of_[i]; ++b, coefficients += 64) {
          dc += *coefficients;
          wide |= static_cast<std::uint32_t>(dc + 0x8000);
          *coefficients = static_cast<std::int16_t>(dc);
        }
        place.dc[i] = dc;
      }
    }
    const std::size_t blocks = static_cast<std::size_t>(mcus) * blocks_;
    if (mcus > 0) {
      place.bit = BlockEnd::Bit(block_ends[blocks - 1], bytes.data);
    }
    return wide <= 0xFFFF && BlockEnd::Coefficients(block_ends, blocks, ends) &&
           place.bit <= bytes.size * 8;
  }

 private:
  int blocks_;
  std::array<BlockKind, 6> kinds_;
  std::array<int, 3> blocks_of_{};  // each component, in the scan's order
  std::array<std::int16_t, 64> no_block_{};
  std::uint64_t no_end_ = 0;
  std::array<std::uint8_t, 16> no_bytes_{};
};

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_STREAM_SOURCE_INL_H_
