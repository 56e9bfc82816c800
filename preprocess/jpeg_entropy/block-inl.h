// Decodes one block of a baseline scan from a bit buffer.
#if defined(INFEED_PREPROCESS_JPEG_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_BLOCK_INL_H_
#undef INFEED_PREPROCESS_JPEG_BLOCK_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_BLOCK_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/huffman.h"
#include "preprocess/jpeg_entropy/order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

HWY_INLINE std::uint64_t BigEndian(const std::uint8_t* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  if constexpr (std::endian::native == std::endian::little) {
    word = __builtin_bswap64(word);
  }
  return word;
}

// The next bits of a scan, the first one highest. After Refill() at least 56
// bits are valid: enough for four symbols of a fused table, or for one long
// symbol.
class BitBuffer {
 public:
  BitBuffer(const std::uint8_t* data, std::size_t bit)
      : next_(data + bit / 8), data_(data) {
    Refill();
    Skip(static_cast<std::uint32_t>(bit % 8));
  }

  HWY_INLINE void Refill() {
    bits_ |= BigEndian(next_) >> (count_ & 63);
    next_ += (~count_ >> 3) & 7;
    count_ |= 56;
  }
  // The low bits of an entry or group are its length.
  HWY_INLINE void Skip(std::uint64_t entry) {
    bits_ <<= entry & 63;
    count_ -= static_cast<std::uint32_t>(entry);
  }
  template <int kBits>
  HWY_INLINE std::uint32_t Entry(const FusedTable<kBits>& table) const {
    return table.fused[bits_ >> (64 - kBits)];
  }
  HWY_INLINE std::uint32_t Group(const AcTable& table) const {
    return table.groups[AcTable::kEntries + (bits_ >> (64 - AcTable::kBits))];
  }
  // Goes back by `bits`. Requires: at least that many bits were skipped.
  HWY_INLINE void Return(std::uint32_t bits) {
    *this = BitBuffer(data_, bit() - bits);
  }
  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  // Bits used so far.
  [[nodiscard]] std::size_t bit() const {
    return static_cast<std::size_t>(next_ - data_) * 8 - (count_ & 63);
  }

 private:
  std::uint64_t bits_ = 0;
  std::uint32_t count_ = 0;  // valid bits, in its low six bits
  const std::uint8_t* next_;
  const std::uint8_t* data_;
};

HWY_INLINE std::uint32_t AdvanceOf(std::uint32_t entry) { return entry >> 24; }
HWY_INLINE bool IsLong(std::uint32_t entry) { return (entry & 255) == 0; }
HWY_INLINE std::int32_t ValueOf(std::uint32_t entry) {
  return static_cast<std::int16_t>(entry >> 8);
}

// Clears a block, by vectors: GCC writes memset() as `rep stos`, which takes as
// long as several symbols.
HWY_INLINE void ClearBlock(std::int16_t* block) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::int16_t, 64> tag;
  for (std::size_t i = 0; i < 64; i += hn::Lanes(tag)) {
    hn::StoreU(hn::Zero(tag), tag, block + i);
  }
}

// Keeps a block's coefficients.
struct KeepBlock {
  // The value is in the low 16 bits.
  HWY_INLINE void Put(std::uint32_t next_place, std::uint64_t value) {
    const std::size_t place =
        kZigzagStored ? next_place - 1 : kStoredPlace[next_place - 1];
    block[place] = static_cast<std::int16_t>(value);
  }
  std::int16_t* block;
};
struct DropBlock {
  HWY_INLINE void Put(std::uint32_t, std::uint64_t) {}
};

// Decodes the DC difference of a block. False: an invalid code.
HWY_INLINE bool DecodeDc(const DcTable& table, BitBuffer& in, int& value) {
  in.Refill();
  std::uint32_t entry = in.Entry(table);
  if (HWY_UNLIKELY(IsLong(entry))) {
    const LongResult symbol = LongSymbol(table.codes, entry, in.bits());
    if (symbol.bits == 0) {
      return false;
    }
    in.Skip(symbol.bits);
    in.Refill();
    entry = symbol.entry;
  } else {
    in.Skip(entry);
  }
  value += ValueOf(entry);
  return value == static_cast<std::int16_t>(value);
}

// Decodes a symbol that a look-up found to be long, and stores its value unless
// its place is outside the block. Returns its entry, 0 for an invalid code.
template <class Block>
HWY_INLINE std::uint32_t TakeLong(const AcTable& table, std::uint32_t entry,
                                  BitBuffer& in, std::uint32_t& place,
                                  Block block) {
  in.Refill();
  const LongResult symbol = LongSymbol(table.codes, entry, in.bits());
  in.Skip(symbol.bits);
  in.Refill();
  place += AdvanceOf(symbol.entry);
  if (place <= 64) {
    block.Put(place, symbol.entry >> 8);
  }
  return symbol.entry;
}

// Returns the end of a block whose last symbol led to place >= 64; 0: the run
// went past the block's end.
HWY_INLINE std::uint32_t EndAt(std::uint32_t place) {
  const std::uint32_t end = place == 64 ? 64 : place - FusedEntry::kEndAdvance;
  return end <= 64 ? end : 0;
}

// Decodes the AC coefficients of a block from a place on; returns its end,
// 1..64, or 0 if it is irregular.
template <class Block>
HWY_INLINE std::uint32_t DecodeAc(const AcTable& table, BitBuffer& in,
                                  Block block, std::uint32_t place = 1) {
  std::uint32_t entry = in.Entry(table);
  // Decodes one symbol. Returns true if it ends the block or is a long symbol.
  const auto take = [&]() __attribute__((always_inline)) {
    in.Skip(entry);
    place += AdvanceOf(entry);
    if (place >= 64) {
      return true;
    }
    block.Put(place, entry >> 8);
    entry = in.Entry(table);
    return false;
  };
  for (;;) {
    // Without a refill after DC's look-up two more symbols are safe; after a
    // refill three, one of them already looked up.
    while (!(take() || take())) {
      in.Refill();
      if (take()) {
        break;
      }
    }
    if (HWY_UNLIKELY(IsLong(entry))) {
      place -= AdvanceOf(entry);
      entry = TakeLong(table, entry, in, place, block);
      if (entry == 0) {
        return 0;
      }
      if (place < 64) {
        entry = in.Entry(table);
        continue;
      }
    } else {
      // Without branches, as it is not known which of the two comes. The zero
      // of an end is stored behind the block.
      const bool has_end = (entry & FusedEntry::kHasEnd) != 0;
      const std::uint32_t behind_value =
          has_end ? place - FusedEntry::kEndAdvance : std::min(place, 65U);
      block.Put(behind_value, entry >> 8);
      if (HWY_UNLIKELY(behind_value == 64)) {
        in.Return(has_end ? table.end_bits : 0);
        return 64;
      }
    }
    return EndAt(place);
  }
}

// Skips the AC coefficients of a block, by groups of symbols. Returns false if
// it is irregular.
HWY_INLINE bool SkipAc(const AcTable& table, BitBuffer& in) {
  std::uint32_t place = 1;
  std::uint32_t group = in.Group(table);
  const auto take = [&]() __attribute__((always_inline)) {
    in.Skip(group);
    place += group >> 8;
    if (place >= 64) {
      return true;
    }
    group = in.Group(table);
    return false;
  };
  for (;;) {
    // As in DecodeAc().
    while (!(take() || take())) {
      in.Refill();
      if (take()) {
        break;
      }
    }
    const std::uint32_t bits = group & 255;
    if (bits == 0) {
      place -= AcTable::kGroupEnd;
      const std::uint32_t entry =
          TakeLong(table, in.Entry(table), in, place, DropBlock{});
      if (entry == 0) {
        return false;
      }
      if (place >= 64) {
        return EndAt(place) != 0;
      }
      group = in.Group(table);
    } else if (place == 64 || (place > AcTable::kGroupEnd &&
                               place < AcTable::kGroupEnd + 64)) {
      return true;
    } else {
      // The block ends within the group, or a run goes past its end.
      place -= group >> 8;
      in.Return(bits);
      return DecodeAc(table, in, DropBlock{}, place) != 0;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_BLOCK_INL_H_
