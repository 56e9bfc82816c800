// Decodes a scan without an index, several places of it in one loop.
#if defined(INFEED_PREPROCESS_JPEG_SCAN_AHEAD_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_SCAN_AHEAD_INL_H_
#undef INFEED_PREPROCESS_JPEG_SCAN_AHEAD_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_SCAN_AHEAD_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hwy/highway.h>

#include "base/rounding.h"
#include "preprocess/jpeg_entropy/entropy.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_entropy/stream_loop-inl.h"
#include "preprocess/jpeg_entropy/stream_source-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Decodes the next MCUs of a scan in several lanes. Where all but the first
// begin is a guess: Huffman codes synchronise themselves, so a decode from any
// byte soon comes to the true begin of an MCU, and from there on decodes what
// one from the scan's start does. When the lane before comes to the begin of an
// MCU at the same bit, the guess is proven. What was decoded before that bit
// does not count, and neither do lanes that are not proven.
//
// The layout, the bytes and the scratch, which has all coefficients, must
// outlive it. One thread at a time.
class ScanAhead {
 public:
  // Consecutive MCUs, as DecodeMcus() writes them.
  struct Piece {
    int mcus = 0;
    std::int16_t* coefficients = nullptr;
    const std::uint64_t* block_ends = nullptr;
    std::uint8_t* ends = nullptr;
  };

  ScanAhead(const McuLayout& layout, const ScanBytes& bytes,
            AheadScratch& scratch);

  // Decodes MCUs from place on, 1 to `most`; place moves behind them. bits: how
  // many an MCU is expected to have. False: irregular.
  [[nodiscard]] bool Decode(int most, double bits, ScanPlace& place);
  // The MCUs that the last call decoded, in order; until the next one.
  [[nodiscard]] std::span<const Piece> pieces() const {
    return std::span(pieces_).first(piece_count_);
  }
  // The place behind a piece's first MCUs, 1 or more.
  [[nodiscard]] ScanPlace PlaceBehind(const Piece& piece, int mcus) const;

 private:
  struct Lane {
    std::size_t start = 0;  // bit
    std::int16_t* coefficients = nullptr;
    std::uint64_t* block_ends = nullptr;
    bool is_active = false;
    bool is_joined = false;  // the next lane continues from `end`
    // In MCUs of this lane:
    int chunk = 0;  // being decoded
    int done = 0;
    int first = 0;  // the first that counts; while not proven: may be the first
    int end = 0;    // behind the last that counts; while not joined: may be it
  };

  void Begin(const ScanPlace& place, std::size_t bits_a_lane);
  // Continues or ends the lanes that are at their stops. False: all have ended,
  // or enough MCUs are proven.
  [[nodiscard]] bool Advance(int most);
  void Advance(std::size_t i, int most);
  [[nodiscard]] int NextChunk(std::size_t i, int most) const;
  [[nodiscard]] bool Join(Lane& lane, Lane& next) const;
  // Where a lane's MCU begins, or the one behind those that are done.
  [[nodiscard]] std::size_t BitOf(const Lane& lane, int mcu) const {
    return mcu == 0
               ? lane.start
               : BlockEnd::Bit(lane.block_ends[mcu * blocks_ - 1], bytes_.data);
  }
  // Finds the MCUs that count, at most `most`; returns their number.
  int FindPieces(int most);
  [[nodiscard]] bool Finish(ScanPlace& place);

  const McuLayout& layout_;
  const int blocks_;  // in an MCU
  const int room_;    // MCUs of a lane
  const ScanBytes bytes_;
  AheadScratch& scratch_;
  StreamSource source_;
  double bits_ = 0;         // expected of an MCU
  std::size_t target_ = 0;  // bit at which the last lane ends
  std::size_t lane_count_ = 0;
  std::array<Lane, kStreams> lanes_;
  std::array<Stream, kStreams> streams_{};
  std::size_t piece_count_ = 0;
  std::array<Piece, kStreams> pieces_;
};

inline ScanAhead::ScanAhead(const McuLayout& layout, const ScanBytes& bytes,
                            AheadScratch& scratch)
    : layout_(layout),
      blocks_(layout.blocks),
      room_(AheadScratch::kLaneBlocks / layout.blocks),
      bytes_(bytes),
      scratch_(scratch),
      source_(layout) {
  constexpr std::size_t kBlocks = AheadScratch::kLaneBlocks;
  scratch.coefficients.Grow((kBlocks + kRunSlackBlocks) * 64 * kStreams);
  scratch.block_ends.Grow(kBlocks * kStreams);
  scratch.ends.Grow(kBlocks * kStreams);
  for (std::size_t i = 0; i < kStreams; ++i) {
    lanes_[i].coefficients =
        scratch.coefficients.data() + (kBlocks + kRunSlackBlocks) * 64 * i;
    lanes_[i].block_ends = scratch.block_ends.data() + kBlocks * i;
  }
}

inline bool ScanAhead::Decode(int most, double bits, ScanPlace& place) {
  if (place.bit > bytes_.size * 8) {
    return false;
  }
  // A lane whose MCUs are shorter than expected has more; there is room for
  // twice as many.
  const int mcus =
      std::min(room_ / 2, CeilDiv(most, static_cast<int>(kStreams)));
  bits_ = bits;
  Begin(place, static_cast<std::size_t>(bits * mcus));
  while (Advance(most)) {
    TakeUntilStop(streams_);
  }
  return FindPieces(most) > 0 && Finish(place);
}

inline void ScanAhead::Begin(const ScanPlace& place, std::size_t bits_a_lane) {
  // Less is not worth a guess.
  constexpr std::size_t kLeastBits = std::size_t{8} * 384;
  target_ = place.bit + kStreams * bits_a_lane;
  lane_count_ = 0;
  for (std::size_t i = 0; i < kStreams; ++i) {
    Lane& lane = lanes_[i];
    lane = {.start = i == 0 ? place.bit : (place.bit + i * bits_a_lane) / 8 * 8,
            .coefficients = lane.coefficients,
            .block_ends = lane.block_ends};
    lane.is_active = i == 0 || (bits_a_lane >= kLeastBits &&
                                lane.start + kLeastBits <= bytes_.size * 8);
    if (lane.is_active) {
      ++lane_count_;
      streams_[i] =
          source_.Begin(bytes_, lane.start, lane.coefficients, lane.block_ends);
    } else {
      streams_[i] = source_.Idle();
    }
  }
}

inline bool ScanAhead::Advance(int most) {
  bool is_active = false;
  for (std::size_t i = 0; i < lane_count_; ++i) {
    if (lanes_[i].is_active &&
        streams_[i].memory.end == streams_[i].memory.stop) {
      Advance(i, most);
    }
    is_active |= lanes_[i].is_active;
  }
  return is_active && FindPieces(most) < most;
}

inline void ScanAhead::Advance(std::size_t i, int most) {
  Lane& lane = lanes_[i];
  lane.done += lane.chunk;
  lane.is_joined = i + 1 < lane_count_ && Join(lane, lanes_[i + 1]);
  const int chunk = lane.is_joined ? 0 : NextChunk(i, most);
  lane.is_active = chunk > 0;
  if (lane.is_active) {
    lane.chunk = source_.Continue(streams_[i], bytes_, chunk);
  } else {
    streams_[i] = source_.Idle();
  }
}

// The number of MCUs to decode next in a lane; 0 or less: none.
inline int ScanAhead::NextChunk(std::size_t i, int most) const {
  const Lane& lane = lanes_[i];
  const bool is_last = i + 1 == lane_count_;
  const std::size_t bit = BitOf(lane, lane.done);
  const std::size_t goal = is_last ? target_ : lanes_[i + 1].start;
  if (bit >= bytes_.size * 8 || (is_last && bit >= target_)) {
    return 0;
  }
  const int left = (i == 0 ? std::min(most, room_) : room_) - lane.done;
  // Few when the goal is near: what lies beyond it is decoded twice.
  constexpr int kLeastBlocks = 9;
  const int least = std::max(1, kLeastBlocks / blocks_);
  const int near = static_cast<int>(
      std::min<double>(bit < goal ? static_cast<double>(goal - bit) / bits_ : 0,
                       StreamSource::kChunk));
  return std::min(left, std::max(near, least));
}

// Proves the guess of the next lane, if that is possible so far.
inline bool ScanAhead::Join(Lane& lane, Lane& next) const {
  while (lane.end <= lane.done && next.first <= next.done) {
    const std::size_t here = BitOf(lane, lane.end);
    const std::size_t there = BitOf(next, next.first);
    if (here == there) {
      // That it joined its own next lane before that MCU proves nothing.
      next.is_joined &= next.first <= next.end;
      next.end = std::max(next.end, next.first);
      return true;
    }
    lane.end += here <= there ? 1 : 0;
    next.first += there <= here ? 1 : 0;
  }
  return false;
}

inline int ScanAhead::FindPieces(int most) {
  int mcus = 0;
  piece_count_ = 0;
  for (std::size_t i = 0; i < lane_count_ && mcus < most; ++i) {
    const Lane& lane = lanes_[i];
    const int end = lane.is_joined ? lane.end : lane.done;
    const int count = std::min(end - lane.first, most - mcus);
    if (count > 0) {
      const std::ptrdiff_t block = std::ptrdiff_t{lane.first} * blocks_;
      pieces_[piece_count_++] = {
          .mcus = count,
          .coefficients = lane.coefficients + 64 * block,
          .block_ends = lane.block_ends + block,
          .ends = scratch_.ends.data() + AheadScratch::kLaneBlocks * i + block};
      mcus += count;
    }
    if (!lane.is_joined) {
      break;
    }
  }
  return mcus;
}

inline bool ScanAhead::Finish(ScanPlace& place) {
  for (const Piece& piece : pieces()) {
    if (!source_.Finish(bytes_, piece.mcus, piece.coefficients,
                        piece.block_ends, piece.ends, place)) {
      return false;
    }
  }
  return true;
}

inline ScanPlace ScanAhead::PlaceBehind(const Piece& piece, int mcus) const {
  const std::ptrdiff_t end = std::ptrdiff_t{mcus} * blocks_;
  ScanPlace place;
  place.bit = BlockEnd::Bit(piece.block_ends[end - 1], bytes_.data);
  for (int b = 0; b < blocks_; ++b) {
    place.dc[layout_.block[b].component] =
        piece.coefficients[64 * (end - blocks_ + b)];
  }
  return place;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_SCAN_AHEAD_INL_H_
