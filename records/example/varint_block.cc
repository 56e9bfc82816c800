#include "records/example/varint_block.h"

#include <algorithm>
#include <cstring>

#include "records/example/varint_shuffles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "records/example/varint_block.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
VarintsRead Read(std::span<const std::byte>, std::span<std::int64_t>) {
  return {};
}
#else
namespace hn = hwy::HWY_NAMESPACE;

using ByteTag = hn::FixedTag<std::uint8_t, kVarintsBytes>;
using WordTag = hn::FixedTag<std::uint32_t, 4>;
constexpr std::size_t kSmall = 8;  // numbers of a byte each
constexpr std::size_t kWindow = 64;

// Bit i: byte i has its highest bit.
template <std::size_t kBytes>
HWY_INLINE std::uint64_t Pattern(const std::uint8_t* bytes) {
  const hn::CappedTag<std::int8_t, kBytes> sign;
  std::uint8_t bits[8] = {};
  for (std::size_t at = 0; at < kBytes; at += hn::Lanes(sign)) {
    const auto part =
        hn::LoadU(sign, reinterpret_cast<const std::int8_t*>(bytes) + at);
    hn::StoreMaskBits(sign, hn::Lt(part, hn::Zero(sign)), bits + at / 8);
  }
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, bits, sizeof(pattern));
  return pattern;
}

// Numbers of up to four bytes with seven bits each.
HWY_INLINE hn::Vec<WordTag> Compact(hn::Vec<WordTag> x) {
  const WordTag d;
  return hn::Or(hn::Or(hn::And(x, hn::Set(d, 0x7F)),
                       hn::And(hn::ShiftRight<1>(x), hn::Set(d, 0x3F80))),
                hn::Or(hn::And(hn::ShiftRight<2>(x), hn::Set(d, 0x1FC000)),
                       hn::And(hn::ShiftRight<3>(x), hn::Set(d, 0xFE00000))));
}

template <typename Numbers>  // two or four at once
HWY_INLINE void StoreFour(Numbers d, hn::Vec<WordTag> x,
                          std::int64_t* numbers) {
  auto* const to = reinterpret_cast<std::uint64_t*>(numbers);
  if constexpr (hn::MaxLanes(d) == VarintShuffles::kNumbers) {
    hn::StoreU(hn::PromoteTo(d, x), d, to);
  } else {
    const hn::Half<WordTag> half;
    hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(half, x)), d, to);
    hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(half, x)), d, to + 2);
  }
}

// Reads numbers from the beginning of kBytes bytes, whose pattern is computed
// at once: the place of a number is then known a few cycles after that of the
// one before it. left: bytes that may be read, at least kBytes. Returns whether
// the next number can be read so, too.
template <std::size_t kBytes>
HWY_INLINE bool ReadWindow(const std::uint8_t* from, std::size_t left,
                           std::span<std::int64_t> numbers, VarintsRead& read) {
  std::uint64_t pattern = Pattern<kBytes>(from);
  std::size_t at = 0;
  if (pattern == 0 && read.numbers + kBytes <= numbers.size()) {
    std::copy_n(from, kBytes, numbers.data() + read.numbers);
    read.numbers += kBytes;
    read.bytes += kBytes;
    return true;
  }
  while (at + VarintShuffles::kBytes <= kBytes && at + kVarintsBytes <= left &&
         read.numbers + kSmall <= numbers.size()) {
    std::int64_t* const to = numbers.data() + read.numbers;
    std::size_t bytes = kSmall;
    if ((pattern & 0xFF) == 0) {
      std::copy_n(from + at, kSmall, to);
      read.numbers += kSmall;
    } else {
      const VarintShuffles::Whole whole = kVarintShuffles.WholeAt(pattern);
      if (whole.numbers == 0) {
        read.bytes += at;
        return false;
      }
      const hn::Vec<ByteTag> places =
          hn::Load(ByteTag(), kVarintShuffles.PlacesAt(pattern).data());
      StoreFour(hn::CappedTag<std::uint64_t, VarintShuffles::kNumbers>(),
                Compact(hn::BitCast(
                    WordTag(), hn::TableLookupBytesOr0(
                                   hn::LoadU(ByteTag(), from + at), places))),
                to);
      read.numbers += whole.numbers;
      bytes = whole.bytes;
    }
    at += bytes;
    pattern >>= bytes;
  }
  read.bytes += at;
  return true;
}

VarintsRead Read(std::span<const std::byte> block,
                 std::span<std::int64_t> numbers) {
  VarintsRead read;
  bool goes_on = true;
  while (goes_on && read.numbers + kSmall <= numbers.size() &&
         read.bytes + kVarintsBytes <= block.size()) {
    const auto* const from =
        reinterpret_cast<const std::uint8_t*>(block.data()) + read.bytes;
    const std::size_t left = block.size() - read.bytes;
    goes_on = left >= kWindow
                  ? ReadWindow<kWindow>(from, left, numbers, read)
                  : ReadWindow<kVarintsBytes>(from, left, numbers, read);
  }
  return read;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(Read);

VarintsRead ReadVarints(std::span<const std::byte> block,
                        std::span<std::int64_t> numbers) {
  return HWY_DYNAMIC_DISPATCH(Read)(block, numbers);
}

}  // namespace infeed
#endif  // HWY_ONCE
