// The loop over some streams.
#if defined(INFEED_PREPROCESS_JPEG_STREAM_LOOP_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_STREAM_LOOP_INL_H_
#undef INFEED_PREPROCESS_JPEG_STREAM_LOOP_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_STREAM_LOOP_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_entropy/stream-inl.h"
#include "preprocess/jpeg_entropy/stream_loop_x86-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// How many streams are decoded together.
inline constexpr std::size_t kStreams = INFEED_WRITTEN_OUT ? 4 : 3;

#if !INFEED_WRITTEN_OUT
// How often, in photographs, a symbol does not end its block. With it the
// compiler keeps the other cases out of the loop and gives the registers to
// this one.
constexpr double kInBlock = 0.95;

// Stores the value of the coefficient that led to a place.
HWY_INLINE void Put(Stream& s, std::uint64_t place) {
  // -1 in a stream that does nothing.
  const auto k = static_cast<std::ptrdiff_t>(place - (kFirst + 1));
  s.memory
      .block[kZigzagStored ? k : kStoredPlace[static_cast<std::size_t>(k)]] =
      static_cast<std::int16_t>(s.entry >> 8);
}

// Decodes one symbol, or completes a long one. A block's end is a branch: its
// misprediction costs less than look-ups that wait for the place of the symbol
// before. Returns whether the stream is at its stop.
HWY_INLINE bool Take(Stream& s) {
  s.bits <<= s.entry & 63;
  s.place += s.entry >> 24;
  if (__builtin_expect_with_probability(s.place < kBehind, 1, kInBlock)) {
    Put(s, s.place);
    LookUp(s, *s.memory.ac);
    return false;
  }
  if (IsLong(static_cast<std::uint32_t>(s.entry))) {
    s.place -= s.entry >> 24;
    TakeLong(s);
    return false;
  }
  Stream::Memory& memory = s.memory;
  std::uint64_t place = s.place;
  if ((s.entry & FusedEntry::kHasEnd) != 0) {
    place -= FusedEntry::kEndAdvance;
    if (place == kBehind) {
      s.place = place;
      Refill(s, memory.ac->end_bits);
    }
  }
  *memory.end++ = BlockEnd::Of(s);
  Put(s, place);
  memory.block += 64;
  ClearBlock(memory.block);
  memory.kind = memory.kind->next;
  memory.ac = memory.kind->ac;
  LookUp(s, *memory.kind->dc);
  s.place = kFirst;
  return memory.end == memory.stop;
}

#endif

// Decodes until one of the streams comes to its stop. Not inlined, so that the
// loop gets enough registers.
HWY_NOINLINE void TakeUntilStop(std::array<Stream, kStreams>& streams) {
#if INFEED_WRITTEN_OUT
  for (;;) {
    const std::uint64_t late = TakeSymbols(streams);
    if (late == kStreams) {
      return;
    }
    TakeLong(streams[late]);
  }
#else
  Stream a = streams[0];
  Stream b = streams[1];
  Stream c = streams[2];
  for (bool is_at_stop = false; !is_at_stop;) {
    Refill(a);
    Refill(b);
    Refill(c);
    for (int i = 0; i < 3 && !is_at_stop; ++i) {
      is_at_stop = Take(a) || Take(b) || Take(c);
    }
  }
  streams = {a, b, c};
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_STREAM_LOOP_INL_H_
