// One of several streams that a loop decodes together: while one stream's table
// look-up is pending, the others continue. The memory and tables of the next
// block come from a list.
#if defined(INFEED_PREPROCESS_JPEG_STREAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#undef INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_STREAM_INL_H_
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/entropy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// A block to be decoded.
struct BlockJob {
  const FusedTable* ac;
  const FusedTable* next_dc;  // of the next block
  std::int16_t* behind;       // address of its coefficient 64
  BlockJob* next;
  // How far beyond coefficient 64 its last symbol led, modulo 256.
  std::uint8_t over;
};

// A stream's state that the loop keeps in registers.
struct Stream {
  // The next bits, the first one highest; a set bit below them marks their end.
  std::uint64_t bits;
  const std::uint8_t* next;  // byte of the first of 64 bits
  std::int64_t place;        // in the block, -64..-1
  BlockJob* job;
  std::uint64_t entry;  // of the next symbol
  // Of the job:
  const FusedTable* ac;
  std::int16_t* block;
};

// The place of a block's first symbol, as an operand in memory.
constexpr std::int64_t kFirst = -64;

// The table of a stopped stream: its symbols use no bits.
inline const FusedTable& StopTable() {
  static const FusedTable table = [] {
    FusedTable stop{};
    stop.fused.fill(FusedTable::kStop);
    return stop;
  }();
  return table;
}

// Begins the stream's job.
HWY_INLINE void Begin(Stream& s) {
  s.place = kFirst;
  s.ac = s.job->ac;
  s.block = s.job->behind - 64;
}

HWY_INLINE void Refill(Stream& s) {
  const int used = std::countr_zero(s.bits);
  s.next += used >> 3;
  s.bits = (BigEndian(s.next) | 1) << (used & 7);
}

// Completes a look-up that found no whole symbol. The entry then has 0 used
// bits, as the bits are consumed here; returns their number. At least 56 bits
// less these are left for look-ups.
HWY_INLINE std::uint32_t TakeLong(const FusedTable& table, Stream& s,
                                  bool& bad) {
  Refill(s);
  LongResult symbol =
      LongSymbol(table, static_cast<std::uint32_t>(s.entry), s.bits);
  if (HWY_UNLIKELY(symbol.bits == 0)) {
    bad = true;
    symbol.entry = FusedTable::kLong;  // Continues to the end of the list.
  }
  s.bits <<= symbol.bits;
  // 64 used bits count as 0, but do not mark a long symbol.
  s.entry = (symbol.entry & ~std::uint32_t{255}) | 64;
  return symbol.bits;
}
HWY_INLINE void TakeLong(Stream& s, bool& bad) {
  // At a block's begin the previous job has the table.
  TakeLong(s.place == kFirst ? *s.job[-1].next_dc : *s.job->ac, s, bad);
}

// The streams' state that the loop keeps in memory.
struct StreamFrame {
  std::array<const std::uint8_t*, 3> next;  // Stream::next
  std::array<const BlockJob*, 3> last;      // the ends of the lists
  std::int64_t first_place = kFirst;
};

#undef INFEED_WRITTEN_OUT
// With AVX-512, as measured. Not with sanitizers, which need a register and
// cannot check these reads; GCC and Clang have different macros for them.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !HWY_IS_ASAN && !HWY_IS_TSAN && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__) && HWY_TARGET <= HWY_AVX3
#define INFEED_WRITTEN_OUT 1
#else
#define INFEED_WRITTEN_OUT 0
#endif

#if INFEED_WRITTEN_OUT
// Written out, since compilers branch at the end of a block, where conditional
// moves are used here, and keep half of three streams in memory. rcx is free;
// the offsets are checked below.
#define INFEED_REFILL(stream, next)     \
  "tzcnt %[" stream                     \
  "_bits], %%rcx\n\t"                   \
  "mov %%rcx, %[" stream                \
  "_bits]\n\t"                          \
  "shr $3, %[" stream                   \
  "_bits]\n\t"                          \
  "add " next "+%[frame], %[" stream    \
  "_bits]\n\t"                          \
  "mov %[" stream "_bits], " next       \
  "+%[frame]\n\t"                       \
  "mov (%[" stream "_bits]), %[" stream \
  "_bits]\n\t"                          \
  "bswap %[" stream                     \
  "_bits]\n\t"                          \
  "and $7, %%ecx\n\t"                   \
  "or $1, %[" stream                    \
  "_bits]\n\t"                          \
  "shl %%cl, %[" stream "_bits]\n\t"
#define INFEED_SKIP(stream)                                 \
  "shlx %[" stream "_entry], %[" stream "_bits], %[" stream \
  "_bits]\n\t"                                              \
  "mov %k[" stream "_entry], %%ecx\n\t"
#define INFEED_STORE(stream) \
  "mov %w[" stream "_entry], -2(%%rcx, %[" stream "_place], 2)\n\t"
// Decodes one symbol: skips its bits, advances the place, stores the value; at
// the end of a block moves to the next job; looks up the next symbol.
#define INFEED_TAKE(stream, is_long)                            \
  INFEED_SKIP(stream)                                           \
  "shr $24, %%ecx\n\t"                                          \
  "shr $8, %k[" stream                                          \
  "_entry]\n\t"                                                 \
  "add %%rcx, %[" stream                                        \
  "_place]\n\t"                                                 \
  "mov %b[" stream "_place], 32(%[" stream                      \
  "_job])\n\t"                                                  \
  "mov 16(%[" stream "_job]), %%rcx\n\t" INFEED_STORE(          \
      stream) "mov (%[" stream                                  \
              "_job]), %%rcx\n\t"                               \
              "cmovns 8(%[" stream                              \
              "_job]), %%rcx\n\t"                               \
              "cmovns 48+%[frame], %[" stream                   \
              "_place]\n\t"                                     \
              "cmovns 24(%[" stream "_job]), %[" stream         \
              "_job]\n\t"                                       \
              "mov %[" stream "_bits], %[" stream               \
              "_entry]\n\t"                                     \
              "shr $53, %[" stream                              \
              "_entry]\n\t"                                     \
              "mov (%%rcx, %[" stream "_entry], 4), %k[" stream \
              "_entry]\n\t"                                     \
              "test %b[" stream "_entry], %b[" stream           \
              "_entry]\n\t"                                     \
              "jz " is_long "f\n\t"

// Decodes until a stream has a long symbol and returns its number; 3: a stream
// is at the end of its list.
[[nodiscard]] HWY_INLINE std::uint64_t TakeSymbols(StreamFrame& memory,
                                                   Stream& a, Stream& b,
                                                   Stream& c) {
  static_assert(
      offsetof(BlockJob, ac) == 0 && offsetof(BlockJob, next_dc) == 8 &&
      offsetof(BlockJob, behind) == 16 && offsetof(BlockJob, next) == 24 &&
      offsetof(BlockJob, over) == 32);
  static_assert(offsetof(StreamFrame, last) == 24 &&
                offsetof(StreamFrame, first_place) == 48);
  static_assert(FusedTable::kBits == 64 - 53);
  StreamFrame frame = memory;
  frame.next = {a.next, b.next, c.next};
  std::uint64_t result;
  asm("1:\n\t"
      "cmp 24+%[frame], %[a_job]\n\t"
      "je 3f\n\t"
      "cmp 32+%[frame], %[b_job]\n\t"
      "je 3f\n\t"
      "cmp 40+%[frame], %[c_job]\n\t"
      "je 3f\n\t"
      INFEED_REFILL("a", "0") INFEED_REFILL("b", "8") INFEED_REFILL("c", "16")
      ".rept 4\n\t"
      INFEED_TAKE("a", "4") INFEED_TAKE("b", "5") INFEED_TAKE("c", "6")
      ".endr\n\t"
      "jmp 1b\n\t"
      "3: mov $3, %%ecx\n\t"
      "jmp 7f\n\t"
      "4: mov $0, %%ecx\n\t"
      "jmp 7f\n\t"
      "5: mov $1, %%ecx\n\t"
      "jmp 7f\n\t"
      "6: mov $2, %%ecx\n\t"
      "7:"
      : [a_bits] "+r"(a.bits), [a_place] "+r"(a.place), [a_job] "+r"(a.job),
        [a_entry] "+r"(a.entry), [b_bits] "+r"(b.bits),
        [b_place] "+r"(b.place), [b_job] "+r"(b.job), [b_entry] "+r"(b.entry),
        [c_bits] "+r"(c.bits), [c_place] "+r"(c.place), [c_job] "+r"(c.job),
        [c_entry] "+r"(c.entry), [frame] "+m"(frame), [result] "=&c"(result)
      :
      : "cc", "memory");
  a.next = frame.next[0];
  b.next = frame.next[1];
  c.next = frame.next[2];
  return result;
}

// Decodes until a stream is at the end of its list. bad: set when a code is
// invalid.
HWY_INLINE void TakeLists(StreamFrame& frame, Stream& a, Stream& b, Stream& c,
                          bool& bad) {
  for (;;) {
    const std::uint64_t late = TakeSymbols(frame, a, b, c);
    if (late == 0) {
      TakeLong(a, bad);
    } else if (late == 1) {
      TakeLong(b, bad);
    } else if (late == 2) {
      TakeLong(c, bad);
    } else {
      return;
    }
  }
}
#undef INFEED_REFILL
#undef INFEED_SKIP
#undef INFEED_STORE
#undef INFEED_TAKE

#else

// How often, in photographs, a symbol does not end its block, and a look-up
// finds a whole one. With these the compiler keeps the other cases out of the
// loop and gives the registers to these.
constexpr double kInBlock = 0.95;
constexpr double kWhole = 0.97;

// Stores the value of a coefficient that led to s.place.
HWY_INLINE void Put(Stream& s, std::int16_t value) {
  const std::int64_t k = s.place + 63;
  s.block[kZigzagStored ? k : kStoredPlace[static_cast<std::size_t>(k)]] =
      value;
}

// Decodes one symbol. A block's end is a branch: its misprediction costs less
// than look-ups that wait for the place of the symbol before.
HWY_INLINE void Take(Stream& s, bool& bad) {
  s.bits <<= s.entry & 63;
  const auto value = static_cast<std::int16_t>(s.entry >> 8);
  s.place += static_cast<std::int64_t>(s.entry >> 24);
  const FusedTable* table = s.ac;
  if (__builtin_expect_with_probability(s.place < 0, 1, kInBlock)) {
    Put(s, value);
  } else {
    s.job->over = static_cast<std::uint8_t>(s.place);
    if (s.place == 0) {
      Put(s, value);
    }
    table = s.job->next_dc;
    s.job = s.job->next;
    Begin(s);
  }
  s.entry = table->fused[s.bits >> (64 - FusedTable::kBits)];
  if (__builtin_expect_with_probability(
          IsLong(static_cast<std::uint32_t>(s.entry)), 0, kWhole)) {
    // Before the next refill there may be three more look-ups.
    if (TakeLong(*table, s, bad) > 56 - 3 * FusedTable::kBits) {
      Refill(s);
    }
  }
}

// As the assembly version above.
HWY_INLINE void TakeLists(const StreamFrame& frame, Stream& a, Stream& b,
                          Stream& c, bool& bad) {
  const std::array<const BlockJob*, 3> last = frame.last;
  while (a.job != last[0] && b.job != last[1] && c.job != last[2]) {
    Refill(a);
    Refill(b);
    Refill(c);
    for (int i = 0; i < 4; ++i) {
      Take(a, bad);
      Take(b, bad);
      Take(c, bad);
    }
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_STREAM_INL_H_
