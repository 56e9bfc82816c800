// Entropy decoding of un-stuffed baseline scans, for each instruction set.
//
// The coefficients of a block are 64 int16, not dequantised, in the order of
// kStoredPlace. Whatever the bytes are, nothing
// outside of the named memory is read or written. All functions return false
// for what is irregular: a bad code, a run past the last coefficient, bits used
// beyond the end, a DC value that is not an int16.
#if defined(INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#undef INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_ENTROPY_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy.h"
#include "preprocess/jpeg_order-inl.h"

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

// The bits of a scan from the highest down. After Refill() at least 56 are
// there, enough for five symbols of a fused table, or a whole long one.
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
  // An entry is its own length: only the low bits count.
  HWY_INLINE void Skip(std::uint32_t entry) {
    bits_ <<= entry & 63;
    count_ -= entry;
  }
  HWY_INLINE std::uint32_t Entry(const FusedTable& table) const {
    return table.fused[bits_ >> (64 - FusedTable::kBits)];
  }
  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  // Bits used so far.
  [[nodiscard]] std::size_t bit() const {
    return static_cast<std::size_t>(next_ - data_) * 8 - (count_ & 63);
  }

 private:
  std::uint64_t bits_ = 0;
  std::uint32_t count_ = 0;  // valid bits, in the low six of it
  const std::uint8_t* next_;
  const std::uint8_t* data_;
};

HWY_INLINE std::uint32_t AdvanceOf(std::uint32_t entry) { return entry >> 24; }
HWY_INLINE bool IsLong(std::uint32_t entry) { return (entry & 255) == 0; }
HWY_INLINE std::int32_t ValueOf(std::uint32_t entry) {
  return static_cast<std::int16_t>(entry >> 8);
}

// Keeps a block's coefficients.
struct KeepBlock {
  HWY_INLINE void Clear() { std::memset(block, 0, 64 * sizeof(*block)); }
  HWY_INLINE void Put(std::uint32_t next_place, std::uint32_t entry) {
    const std::size_t place =
        kZigzagStored ? next_place - 1 : kStoredPlace[next_place - 1];
    block[place] = static_cast<std::int16_t>(entry >> 8);
  }
  std::int16_t* block;
};
struct DropBlock {
  HWY_INLINE void Clear() {}
  HWY_INLINE void Put(std::uint32_t, std::uint32_t) {}
};

// The DC difference of a block. False: a bad code.
HWY_INLINE bool DecodeDc(const DcTable& table, BitBuffer& in, int& value) {
  in.Refill();
  std::uint32_t entry = in.Entry(table);
  if (HWY_UNLIKELY(IsLong(entry))) {
    entry = LongSymbol(table, entry, in.bits());
    if (entry == 0) {
      return false;
    }
    in.Skip(entry);
    in.Refill();
  } else {
    in.Skip(entry);
  }
  value += ValueOf(entry);
  return value == static_cast<std::int16_t>(value);
}

// The AC coefficients of a block; returns its end, 1..64, or 0 for an irregular
// one.
template <class Block>
HWY_INLINE std::uint32_t DecodeAc(const AcTable& table, BitBuffer& in,
                                  Block block) {
  std::uint32_t place = 1;
  std::uint32_t entry = in.Entry(table);
  for (;;) {
    int symbols = 3;  // until the next refill: after DC three are safe, too
    for (;;) {
      in.Skip(entry);
      place += AdvanceOf(entry);
      if (place >= 64) {
        break;
      }
      block.Put(place, entry);
      entry = in.Entry(table);
      if (--symbols == 0) {
        in.Refill();
        symbols = 4;
      }
    }
    if (HWY_UNLIKELY(IsLong(entry))) {
      place -= FusedTable::kEndAdvance;
      in.Refill();
      entry = LongSymbol(table, entry, in.bits());
      if (entry == 0) {
        return 0;
      }
      in.Skip(entry);
      place += AdvanceOf(entry);
      if (place < 64) {
        block.Put(place, entry);
        in.Refill();
        entry = in.Entry(table);
        continue;
      }
    }
    if (place == 64) {
      block.Put(place, entry);
      return 64;
    }
    return AdvanceOf(entry) == FusedTable::kEndAdvance
               ? place - FusedTable::kEndAdvance
               : 0;
  }
}

// Decodes MCUs; store says where to.
template <class Store>
HWY_INLINE bool DecodeEach(const McuLayout& layout, const ScanBytes& bytes,
                           int mcus, ScanPlace& place, Store store) {
  if (place.bit > bytes.size * 8) {
    return false;
  }
  BitBuffer in(bytes.data, place.bit);
  std::array<int, 3> dc = place.dc;
  for (int mcu = 0; mcu < mcus; ++mcu) {
    for (int b = 0; b < layout.blocks; ++b) {
      const McuLayout::Block& kind = layout.block[b];
      int& value = dc[kind.component];
      auto block = store.Next();
      block.Clear();
      if (!DecodeDc(*kind.dc, in, value)) {
        return false;
      }
      const std::uint32_t end = DecodeAc(*kind.ac, in, block);
      if (end == 0) {
        return false;
      }
      store.End(value, end);
    }
    if (in.bit() > bytes.size * 8) {
      return false;
    }
  }
  place = {.bit = in.bit(), .dc = dc};
  return true;
}

struct KeepBlocks {
  HWY_INLINE KeepBlock Next() const { return {coefficients}; }
  HWY_INLINE void End(int dc, std::uint32_t end) {
    coefficients[0] = static_cast<std::int16_t>(dc);
    coefficients += 64;
    *ends++ = static_cast<std::uint8_t>(end);
  }
  std::int16_t* coefficients;
  std::uint8_t* ends;
};
struct DropBlocks {
  HWY_INLINE DropBlock Next() const { return {}; }
  HWY_INLINE void End(int, std::uint32_t) {}
};

// Decodes `mcus` MCUs from place, which moves behind them. Writes all
// 64 * mcus * blocks coefficients, blocks in the scan's order, and may write
// zeros to one block more. ends: how many coefficients of each block, in zigzag
// order, may be other than zero, 1..64.
[[nodiscard]] inline bool DecodeMcus(const McuLayout& layout,
                                     const ScanBytes& bytes, int mcus,
                                     ScanPlace& place,
                                     std::int16_t* coefficients,
                                     std::uint8_t* ends) {
  return DecodeEach(layout, bytes, mcus, place, KeepBlocks{coefficients, ends});
}

// The same without coefficients: only place moves.
[[nodiscard]] inline bool PassMcus(const McuLayout& layout,
                                   const ScanBytes& bytes, int mcus,
                                   ScanPlace& place) {
  return DecodeEach(layout, bytes, mcus, place, DropBlocks{});
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif
