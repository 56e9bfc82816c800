// One of several streams of Huffman codes that a loop decodes together: while
// one stream's table look-up is pending, the others continue.
#if defined(INFEED_PREPROCESS_JPEG_STREAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#undef INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/entropy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// A block of an MCU: its tables, and the block behind it, that of the next MCU
// for the last one. The table of that is here, too: the loop waits for it.
struct BlockKind {
  const AcTable* ac;
  const DcTable* dc;
  const BlockKind* next;
  const DcTable* next_dc;
};

// A stream's state. The loop keeps the first three in registers.
struct Stream {
  // The next bits, the first one highest; a set bit below them marks their end.
  std::uint64_t bits;
  std::uint64_t place;  // of the next coefficient: 64 + its number in zigzag
  std::uint64_t entry;  // of the next symbol
  struct Memory {
    const std::uint8_t* next;  // byte of the first of 64 bits
    std::int16_t* block;
    const BlockKind* kind;
    std::uint64_t* end;         // where the block's BlockEnd is written
    const std::uint64_t* stop;  // where the loop is to stop
    const AcTable* ac;          // of the block
  } memory;
};

// The table of a stopped stream: its symbols use no bits and lead nowhere.
inline const AcTable& StopTable() {
  static const AcTable table = [] {
    AcTable stop{};
    stop.fused.fill(FusedEntry::kStop);
    return stop;
  }();
  return table;
}

// Places: of a block's first symbol, and behind its last coefficient.
constexpr std::uint64_t kFirst = 64;
constexpr std::uint64_t kBehind = 128;

// A block's end, as the loop writes it: the place that the block's last symbol
// led to, and the bit behind that symbol, counted from address 0, modulo 2^56.
struct BlockEnd {
  static std::uint64_t Of(const Stream& s) {
    return (BitAt(s.memory.next) +
            static_cast<std::uint64_t>(std::countr_zero(s.bits)))
               << 8 |
           s.place;
  }
  // The bit counted from `data`.
  static std::size_t Bit(std::uint64_t end, const std::uint8_t* data) {
    return ((end >> 8) - BitAt(data)) & (~std::uint64_t{0} >> 8);
  }
  // Writes how many coefficients in zigzag order blocks have, behind which all
  // are zero, 1..64. False: a block is irregular.
  [[nodiscard]] static bool Coefficients(const std::uint64_t* block_ends,
                                         std::size_t count,
                                         std::uint8_t* ends) {
    const hwy::HWY_NAMESPACE::CappedTag<std::uint64_t, 8> tag;
    const std::size_t rest = count % hwy::HWY_NAMESPACE::Lanes(tag);
    const hwy::HWY_NAMESPACE::CappedTag<std::uint64_t, 1> one;
    const bool is_regular = Write(tag, block_ends, count - rest, ends);
    return Write(one, block_ends + (count - rest), rest,
                 ends + (count - rest)) &&
           is_regular;
  }

 private:
  template <class Tag>
  static bool Write(Tag tag, const std::uint64_t* block_ends, std::size_t count,
                    std::uint8_t* ends) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Rebind<std::uint8_t, Tag> bytes;
    // The end of a block leads further than any run.
    const auto least = hn::Set(tag, kFirst + FusedEntry::kEndAdvance);
    const auto behind = hn::Set(tag, kBehind);
    const auto all = hn::Set(tag, 64);
    const auto low = hn::Set(tag, 255);
    const auto one = hn::Set(tag, 1);
    auto over = hn::Zero(tag);  // beyond 6 bits where a block is irregular
    for (std::size_t i = 0; i < count; i += hn::Lanes(tag)) {
      const auto place = hn::And(hn::LoadU(tag, block_ends + i), low);
      const auto end = hn::IfThenElse(hn::Eq(place, behind), all,
                                      hn::And(hn::Sub(place, least), low));
      over = hn::Or(over, hn::Sub(end, one));
      hn::StoreU(hn::TruncateTo(bytes, end), bytes, ends + i);
    }
    return hn::AllTrue(tag, hn::Eq(hn::ShiftRight<6>(over), hn::Zero(tag)));
  }
  static std::uint64_t BitAt(const std::uint8_t* data) {
    return std::uint64_t{reinterpret_cast<std::uintptr_t>(data)} * 8;
  }
};

template <int kBits>
HWY_INLINE void LookUp(Stream& s, const FusedTable<kBits>& table) {
  s.entry = table.fused[s.bits >> (64 - kBits)];
}

// Fills up the bits, and goes back by some of those since the last refill.
HWY_INLINE void Refill(Stream& s, std::uint32_t back = 0) {
  const std::uint32_t used =
      static_cast<std::uint32_t>(std::countr_zero(s.bits)) - back;
  s.memory.next += used >> 3;
  s.bits = (BigEndian(s.memory.next) | 1) << (used & 7);
}

// Completes a look-up that found no whole symbol. The entry then has 0 used
// bits, as the bits are consumed here. Enough bits are left for three more
// look-ups. An invalid code ends the block at an invalid place.
HWY_INLINE void TakeLong(Stream& s) {
  Refill(s);
  const BlockKind& kind = *s.memory.kind;
  const HuffmanCodes& codes =
      s.place == kFirst ? kind.dc->codes : kind.ac->codes;
  LongResult symbol =
      LongSymbol(codes, static_cast<std::uint32_t>(s.entry), s.bits);
  if (HWY_UNLIKELY(symbol.bits == 0)) {
    symbol.entry = static_cast<std::uint32_t>(kBehind + 1 - s.place) << 24;
  }
  s.bits <<= symbol.bits;
  // 64 used bits count as 0, but do not mark a long symbol.
  s.entry = (symbol.entry & ~std::uint32_t{255}) | 64;
  if (symbol.bits > 56 - 3 * AcTable::kBits) {
    Refill(s);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_STREAM_INL_H_
