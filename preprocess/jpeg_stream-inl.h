// One stream of a loop that decodes several: while its next symbol waits for
// its table, the others go on. A block's end costs no branch: the next block's
// memory and tables are taken by conditional moves from a list.
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

#include "preprocess/jpeg_entropy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// A block to be decoded.
struct BlockJob {
  const FusedTable* ac;
  const FusedTable* next_dc;  // of the block behind
  std::int16_t* behind;       // where its coefficient 64 would be
  BlockJob* next;
  // How far behind coefficient 64 its last symbol went, modulo 256.
  std::uint8_t over;
};

// What the loop holds of a stream, in registers.
struct Stream {
  // The bits to come, from the highest; below them one that is set marks where
  // they end.
  std::uint64_t bits;
  const std::uint8_t* next;  // byte of the first of 64 bits
  std::int64_t place;        // in the block, -64..-1
  BlockJob* job;
  std::uint64_t entry;  // of the next symbol
};

// The place of a block's first symbol, as an operand in memory.
constexpr std::int64_t kFirst = -64;

// A table with which a stream stays where it is: its symbols use no bits.
inline const FusedTable& StopTable() {
  static const FusedTable table = [] {
    FusedTable stop{};
    stop.fused.fill(FusedTable::kStop);
    return stop;
  }();
  return table;
}

HWY_INLINE void Refill(Stream& s) {
  const int used = std::countr_zero(s.bits);
  s.next += used >> 3;
  s.bits = (BigEndian(s.next) | 1) << (used & 7);
}

// Completes a look-up that found no whole symbol. Its entry then has no bits
// used: they are taken already, and the next ones there.
HWY_INLINE void TakeLong(const FusedTable& table, Stream& s, bool& bad) {
  Refill(s);
  std::uint32_t entry =
      LongSymbol(table, static_cast<std::uint32_t>(s.entry), s.bits);
  if (HWY_UNLIKELY(entry == 0)) {
    bad = true;
    entry = FusedTable::kLong;  // Ends the block: so the list's end comes.
  }
  s.bits <<= entry & 63;
  Refill(s);
  // 64 bits used are none, and not the mark of a long symbol.
  s.entry = (entry & ~std::uint32_t{255}) | 64;
}
HWY_INLINE void TakeLong(Stream& s, bool& bad) {
  // Where a block has just begun, the job before named the table.
  TakeLong(s.place == kFirst ? *s.job[-1].next_dc : *s.job->ac, s, bad);
}

#if defined(__x86_64__) && defined(__GNUC__)
// Takes a symbol: skips its bits, adds to the place, keeps the value, at the
// end of a block goes on to the next job, and looks the next symbol up.
// Compilers would branch at the end of a block, and have not enough registers
// for three streams.
// Whether the next symbol is there; else TakeLong() brings it.
[[nodiscard]] HWY_INLINE bool Take(Stream& s) {
  std::uint64_t temporary;
#if HWY_TARGET > HWY_AVX3
  std::uint64_t stored;
#endif
  asm(
#if HWY_TARGET <= HWY_AVX2
      "shlx %[entry], %[bits], %[bits]\n\t"
      "mov %k[entry], %k[temporary]\n\t"
#else
      "mov %k[entry], %k[temporary]\n\t"
      "shl %b[temporary], %[bits]\n\t"
#endif
      "shr %[advance_shift], %k[temporary]\n\t"
      "shr %[value_shift], %k[entry]\n\t"
      "add %[temporary], %[place]\n\t"
      "mov %b[place], %c[over](%[job])\n\t"
      "mov %c[behind](%[job]), %[temporary]\n\t"
#if HWY_TARGET <= HWY_AVX3
      "mov %w[entry], -2(%[temporary], %[place], 2)\n\t"
#else
      "movzbl 63(%[places], %[place]), %k[stored]\n\t"
      "mov %w[entry], -128(%[temporary], %[stored], 2)\n\t"
#endif
      "mov %c[ac](%[job]), %[temporary]\n\t"
      "cmovns %c[next_dc](%[job]), %[temporary]\n\t"
      "cmovns %[first], %[place]\n\t"
      "cmovns %c[next](%[job]), %[job]\n\t"
      "mov %[bits], %[entry]\n\t"
      "shr %[look_shift], %[entry]\n\t"
      "mov (%[temporary], %[entry], 4), %k[entry]"
      : [bits] "+r"(s.bits), [place] "+r"(s.place), [job] "+r"(s.job),
        [entry] "+r"(s.entry)
#if HWY_TARGET <= HWY_AVX2
            ,
        [temporary] "=&r"(temporary)
#else
            ,
        [temporary] "=&c"(temporary)
#endif
#if HWY_TARGET > HWY_AVX3
            ,
        [stored] "=&r"(stored)
#endif
      : [first] "m"(kFirst), [over] "i"(offsetof(BlockJob, over)),
        [behind] "i"(offsetof(BlockJob, behind)),
        [ac] "i"(offsetof(BlockJob, ac)),
        [next_dc] "i"(offsetof(BlockJob, next_dc)),
        [next] "i"(offsetof(BlockJob, next)), [advance_shift] "i"(24),
        [value_shift] "i"(8), [look_shift] "i"(64 - FusedTable::kBits)
#if HWY_TARGET > HWY_AVX3
                                  ,
        [places] "r"(kStoredPlace.data())
#endif
      : "cc", "memory");
  return !IsLong(static_cast<std::uint32_t>(s.entry));
}
#else
// Whether the next symbol is there; else TakeLong() brings it.
[[nodiscard]] HWY_INLINE bool Take(Stream& s) {
  s.bits <<= s.entry & 63;
  const auto value = static_cast<std::int16_t>(s.entry >> 8);
  s.place += static_cast<std::int64_t>(s.entry >> 24);
  s.job->over = static_cast<std::uint8_t>(s.place);
  Store(s.job->behind, s.place, value);
  const bool end = s.place >= 0;
  const FusedTable* const table = end ? s.job->next_dc : s.job->ac;
  s.job = end ? s.job->next : s.job;
  s.place = end ? kFirst : s.place;
  s.entry = table->fused[s.bits >> (64 - FusedTable::kBits)];
  return !IsLong(static_cast<std::uint32_t>(s.entry));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_STREAM_INL_H_
