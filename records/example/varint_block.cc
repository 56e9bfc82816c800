#include "records/example/varint_block.h"

#include <algorithm>

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
using NumberTag = hn::FixedTag<std::uint64_t, 2>;
constexpr std::size_t kSmall = 8;  // numbers of a byte each

// Bit i: byte i has its highest bit.
HWY_INLINE std::uint32_t Pattern(hn::Vec<ByteTag> bytes) {
  const hn::RebindToSigned<ByteTag> sign;
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(sign, hn::Lt(hn::BitCast(sign, bytes), hn::Zero(sign)),
                    bits);
  return bits[0] | std::uint32_t{bits[1]} << 8;
}

// Numbers of up to four bytes with seven bits each.
HWY_INLINE hn::Vec<WordTag> Compact(hn::Vec<WordTag> x) {
  const WordTag d;
  return hn::Or(hn::Or(hn::And(x, hn::Set(d, 0x7F)),
                       hn::And(hn::ShiftRight<1>(x), hn::Set(d, 0x3F80))),
                hn::Or(hn::And(hn::ShiftRight<2>(x), hn::Set(d, 0x1FC000)),
                       hn::And(hn::ShiftRight<3>(x), hn::Set(d, 0xFE00000))));
}

HWY_INLINE void StoreFour(hn::Vec<WordTag> x, std::int64_t* numbers) {
  const NumberTag d;
  auto* const to = reinterpret_cast<std::uint64_t*>(numbers);
  const hn::Half<WordTag> half;
  hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(half, x)), d, to);
  hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(half, x)), d, to + 2);
}

VarintsRead Read(std::span<const std::byte> block,
                 std::span<std::int64_t> numbers) {
  VarintsRead read;
  while (block.size() - read.bytes >= kVarintsBytes &&
         numbers.size() - read.numbers >= kSmall) {
    const auto* const from =
        reinterpret_cast<const std::uint8_t*>(block.data()) + read.bytes;
    std::int64_t* const to = numbers.data() + read.numbers;
    const hn::Vec<ByteTag> bytes = hn::LoadU(ByteTag(), from);
    const std::uint32_t pattern = Pattern(bytes);
    if ((pattern & 0xFF) == 0) {
      std::copy_n(from, kSmall, to);
      read.numbers += kSmall;
      read.bytes += kSmall;
      continue;
    }
    const VarintShuffles::Shuffle& shuffle = kVarintShuffles.At(pattern);
    if (shuffle.numbers == 0) {
      break;
    }
    StoreFour(Compact(hn::BitCast(
                  WordTag(),
                  hn::TableLookupBytesOr0(
                      bytes, hn::LoadU(ByteTag(), shuffle.places.data())))),
              to);
    read.numbers += shuffle.numbers;
    read.bytes += shuffle.bytes;
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
