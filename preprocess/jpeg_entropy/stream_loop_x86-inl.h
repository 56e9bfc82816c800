// The loop over four streams, written out for x86-64 with AVX2 or AVX-512.
#if defined(INFEED_PREPROCESS_JPEG_STREAM_LOOP_X86_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_STREAM_LOOP_X86_INL_H_
#undef INFEED_PREPROCESS_JPEG_STREAM_LOOP_X86_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_STREAM_LOOP_X86_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_entropy/stream-inl.h"

#undef INFEED_WRITTEN_OUT
// Not with sanitizers, which need registers and cannot check these reads; GCC
// and Clang have different macros for them.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !HWY_IS_ASAN && !HWY_IS_TSAN && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__) && HWY_TARGET <= HWY_AVX2
#define INFEED_WRITTEN_OUT 1
#else
#define INFEED_WRITTEN_OUT 0
#endif

#if INFEED_WRITTEN_OUT
HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Compilers keep half of the streams in memory. Here rcx and rdx are free,
// `s` is a stream's letter, and `at` the address of its memory: next at 0,
// block at 8, kind at 16, end at 24, stop at 32, ac at 40. A kind has ac at 0,
// next at 16, next_dc at 24. `site` is 0 to 2, the symbol's number between
// refills.
// clang-format off
#define INFEED_REFILL(s, at)                                    \
  "tzcnt %[" s "_bits], %%rcx\n\t"                              \
  INFEED_REFILL_AT(s, at)

// Refills from a number of bits, rcx, behind `next` on.
#define INFEED_REFILL_AT(s, at)                                 \
  "mov %%ecx, %%edx\n\t"                                        \
  "shr $3, %%edx\n\t"                                           \
  "add 0+" at ", %%rdx\n\t"                                     \
  "mov %%rdx, 0+" at "\n\t"                                     \
  "mov (%%rdx), %[" s "_bits]\n\t"                              \
  "bswap %[" s "_bits]\n\t"                                     \
  "and $7, %%ecx\n\t"                                           \
  "or $1, %[" s "_bits]\n\t"                                    \
  "shlx %%rcx, %[" s "_bits], %[" s "_bits]\n\t"

// Looks up a symbol in the table at rdx, of 64 - shift bits.
#define INFEED_LOOK_UP(s, shift)                                \
  "mov %[" s "_bits], %[" s "_entry]\n\t"                       \
  "shr $" shift ", %[" s "_entry]\n\t"                          \
  "mov (%%rdx, %[" s "_entry], 4), %k[" s "_entry]\n\t"

// Stores the coefficient that led to a place; rcx is then its block.
#if HWY_TARGET <= HWY_AVX3
#define INFEED_PUT(s, at, place)                                \
  "mov 8+" at ", %%rcx\n\t"                                     \
  "mov %w[" s "_entry], -130(%%rcx, " place ", 2)\n\t"
#else
#define INFEED_PUT(s, at, place)                                \
  "mov 192+%[memory], %%rcx\n\t"                                \
  "movzbl -65(%%rcx, " place ", 1), %%edx\n\t"                  \
  "mov 8+" at ", %%rcx\n\t"                                     \
  "mov %w[" s "_entry], (%%rcx, %%rdx, 2)\n\t"
#endif

// Clears the block at rcx.
#if HWY_TARGET <= HWY_AVX3
#define INFEED_CLEAR                                            \
  "vmovdqu64 %[zero], (%%rcx)\n\t"                              \
  "vmovdqu64 %[zero], 64(%%rcx)\n\t"
#else
#define INFEED_CLEAR                                            \
  "vmovdqu %[zero], (%%rcx)\n\t"                                \
  "vmovdqu %[zero], 32(%%rcx)\n\t"                              \
  "vmovdqu %[zero], 64(%%rcx)\n\t"                              \
  "vmovdqu %[zero], 96(%%rcx)\n\t"
#endif

// Decodes one symbol: skips its bits, advances the place, stores the value,
// looks up the next symbol. A block's end leads to a place of 128 or more, a
// long symbol beyond 255.
#define INFEED_TAKE(s, at)                                      \
  "shlx %[" s "_entry], %[" s "_bits], %[" s "_bits]\n\t"       \
  "rorx $24, %k[" s "_entry], %%ecx\n\t"                        \
  "add %%cl, %b[" s "_place]\n\t"                               \
  "js .L" s "_end_\\site\\()_%=\n\t"                            \
  "jc .L" s "_long_\\site\\()_%=\n\t"                           \
  "shr $8, %k[" s "_entry]\n\t"                                 \
  INFEED_PUT(s, at, "%[" s "_place]")                           \
  "mov 40+" at ", %%rdx\n\t"                                    \
  INFEED_LOOK_UP(s, "52")                                       \
  ".L" s "_taken_\\site\\()_%=:\n\t"

// Ends a block. The value may be the zero of the block's end, which is stored
// behind the block. The carry of the entry's shift says that it has both. A full
// block has no end: what was taken for one is given back.
#define INFEED_END(s, at)                                       \
  ".L" s "_end_\\site\\()_%=:\n\t"                              \
  "shr $8, %k[" s "_entry]\n\t"                                 \
  "lea -80(%[" s "_place]), %%rdx\n\t"                          \
  "cmovnc %[" s "_place], %%rdx\n\t"                            \
  "cmp $208, %k[" s "_place]\n\t"                               \
  "je .L" s "_full_\\site\\()_%=\n\t"                           \
  ".L" s "_end_long_\\site\\()_%=:\n\t"                         \
  INFEED_PUT(s, at, "%%rdx")                                    \
  "sub $-128, %%rcx\n\t"                                        \
  "mov %%rcx, 8+" at "\n\t"                                     \
  INFEED_CLEAR                                                  \
  "tzcnt %[" s "_bits], %%rdx\n\t"                              \
  "mov 0+" at ", %%rcx\n\t"                                     \
  "lea (%%rdx, %%rcx, 8), %%rdx\n\t"                            \
  "mov 24+" at ", %%rcx\n\t"                                    \
  "shl $8, %%rdx\n\t"                                           \
  "or %[" s "_place], %%rdx\n\t"                                \
  "mov %%rdx, (%%rcx)\n\t"                                      \
  "add $8, %%rcx\n\t"                                           \
  "mov %%rcx, 24+" at "\n\t"                                    \
  "mov $64, %k[" s "_place]\n\t"                                \
  "mov 16+" at ", %%rdx\n\t"                                    \
  "mov 16(%%rdx), %[" s "_entry]\n\t"                           \
  "mov %[" s "_entry], 16+" at "\n\t"                           \
  "mov (%[" s "_entry]), %[" s "_entry]\n\t"                    \
  "mov %[" s "_entry], 40+" at "\n\t"                           \
  "mov 24(%%rdx), %%rdx\n\t"                                    \
  INFEED_LOOK_UP(s, "53")                                       \
  "cmp 32+" at ", %%rcx\n\t"                                    \
  "jne .L" s "_taken_\\site\\()_%=\n\t"                         \
  "mov $4, %%ecx\n\t"                                           \
  "jmp 9f\n\t"                                                  \
  ".L" s "_full_\\site\\()_%=:\n\t"                             \
  "mov 40+" at ", %%rdx\n\t"                                    \
  "tzcnt %[" s "_bits], %%rcx\n\t"                              \
  "sub %c[end_bits](%%rdx), %%ecx\n\t"                          \
  INFEED_REFILL_AT(s, at)                                       \
  "mov $128, %k[" s "_place]\n\t"                               \
  "mov %[" s "_place], %%rdx\n\t"                               \
  "jmp .L" s "_end_long_\\site\\()_%=\n\t"

// Takes a long symbol, if the looked-up bits have its code.
#define INFEED_LONG(s, at, number)                              \
  ".L" s "_long_\\site\\()_%=:\n\t"                             \
  "mov %k[" s "_entry], %%ecx\n\t"                              \
  "shr $8, %%ecx\n\t"                                           \
  "test $63, %%cl\n\t"                                          \
  "jz 2f\n\t"                                                   \
  "shlx %%rcx, %[" s "_bits], %[" s "_bits]\n\t"                \
  "shr $8, %%ecx\n\t"                                           \
  "mov %[" s "_bits], %%rdx\n\t"                                \
  "sar $63, %%rdx\n\t"                                          \
  "not %%rdx\n\t"                                               \
  "mov %[" s "_bits], %[" s "_entry]\n\t"                       \
  "shlx %%rcx, %[" s "_bits], %[" s "_bits]\n\t"                \
  "neg %%ecx\n\t"                                               \
  "xor %%rdx, %[" s "_entry]\n\t"                               \
  "shrx %%rcx, %[" s "_entry], %[" s "_entry]\n\t"              \
  "xor %%rdx, %[" s "_entry]\n\t"                               \
  "sub %%rdx, %[" s "_entry]\n\t"                               \
  INFEED_REFILL(s, at)                                          \
  "add $65, %b[" s "_place]\n\t"                                \
  "mov %[" s "_place], %%rdx\n\t"                               \
  "js .L" s "_end_long_\\site\\()_%=\n\t"                       \
  INFEED_PUT(s, at, "%[" s "_place]")                           \
  "mov 40+" at ", %%rdx\n\t"                                    \
  INFEED_LOOK_UP(s, "52")                                       \
  "jmp .L" s "_taken_\\site\\()_%=\n\t"                         \
  "2: rorx $24, %k[" s "_entry], %%ecx\n\t"                     \
  "sub %%cl, %b[" s "_place]\n\t"                               \
  "mov $" number ", %%ecx\n\t"                                  \
  "jmp 9f\n\t"
// clang-format on

// Decodes until a stream comes to its stop, or has a symbol whose code the
// looked-up bits do not have. Returns the number of streams for the former, the
// stream's number for the latter.
[[nodiscard]] HWY_INLINE std::uint64_t TakeSymbols(
    std::array<Stream, 4>& streams) {
  namespace hn = hwy::HWY_NAMESPACE;
  static_assert(offsetof(BlockKind, ac) == 0 &&
                offsetof(BlockKind, next) == 16 &&
                offsetof(BlockKind, next_dc) == 24);
  static_assert(offsetof(AcTable, fused) == 0 && AcTable::kBits == 64 - 52 &&
                offsetof(DcTable, fused) == 0 && DcTable::kBits == 64 - 53);
  static_assert(offsetof(Stream::Memory, next) == 0 &&
                offsetof(Stream::Memory, block) == 8 &&
                offsetof(Stream::Memory, kind) == 16 &&
                offsetof(Stream::Memory, end) == 24 &&
                offsetof(Stream::Memory, stop) == 32 &&
                offsetof(Stream::Memory, ac) == 40 &&
                sizeof(Stream::Memory) == 48);
  static_assert(FusedEntry::kLongAdvance == 256 - kFirst &&
                FusedEntry::kEndAdvance == 80 && FusedEntry::kHasEnd == 128);
  // A refill has 56 bits: after two symbols enough are left for a long one,
  // after three for a look-up.
  static_assert(3 * AcTable::kBits + 15 <= 56 && 4 * AcTable::kBits <= 56);
  auto& [a, b, c, d] = streams;
  struct {
    std::array<Stream::Memory, 4> streams;
    const std::uint8_t* places;
  } memory = {{a.memory, b.memory, c.memory, d.memory}, kStoredPlace.data()};
  std::uint64_t result;
  asm("1:\n\t"
      INFEED_REFILL("a", "0+%[memory]") INFEED_REFILL("b", "48+%[memory]")
      INFEED_REFILL("c", "96+%[memory]") INFEED_REFILL("d", "144+%[memory]")
      ".irp site, 0, 1, 2\n\t"
      INFEED_TAKE("a", "0+%[memory]") INFEED_TAKE("b", "48+%[memory]")
      INFEED_TAKE("c", "96+%[memory]") INFEED_TAKE("d", "144+%[memory]")
      ".endr\n\t"
      "jmp 1b\n\t"
      ".irp site, 0, 1, 2\n\t"
      INFEED_END("a", "0+%[memory]") INFEED_LONG("a", "0+%[memory]", "0")
      INFEED_END("b", "48+%[memory]") INFEED_LONG("b", "48+%[memory]", "1")
      INFEED_END("c", "96+%[memory]") INFEED_LONG("c", "96+%[memory]", "2")
      INFEED_END("d", "144+%[memory]") INFEED_LONG("d", "144+%[memory]", "3")
      ".endr\n\t"
      "9:"
      : [a_bits] "+r"(a.bits), [a_place] "+r"(a.place),
        [a_entry] "+r"(a.entry), [b_bits] "+r"(b.bits),
        [b_place] "+r"(b.place), [b_entry] "+r"(b.entry),
        [c_bits] "+r"(c.bits), [c_place] "+r"(c.place),
        [c_entry] "+r"(c.entry), [d_bits] "+r"(d.bits), [d_place] "+r"(d.place),
        [d_entry] "+r"(d.entry), [memory] "+m"(memory), [result] "=&c"(result)
      : [end_bits] "i"(offsetof(AcTable, end_bits)),
        [zero] "v"(hn::Zero(hn::ScalableTag<std::uint8_t>()).raw)
      : "cc", "memory", "rdx");
  a.memory = memory.streams[0];
  b.memory = memory.streams[1];
  c.memory = memory.streams[2];
  d.memory = memory.streams[3];
  return result;
}

#undef INFEED_REFILL
#undef INFEED_REFILL_AT
#undef INFEED_LOOK_UP
#undef INFEED_PUT
#undef INFEED_CLEAR
#undef INFEED_TAKE
#undef INFEED_END
#undef INFEED_LONG

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();
#endif  // INFEED_WRITTEN_OUT

#endif  // INFEED_PREPROCESS_JPEG_STREAM_LOOP_X86_INL_H_
