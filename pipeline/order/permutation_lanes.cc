#include "pipeline/order/permutation_lanes.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pipeline/order/permutation_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A word lies in the low half of a 64-bit lane, so that a product of two has
// room, and the lower word of a product is the product itself: the high half of
// a lane is never read.
using Tag = hn::ScalableTag<std::uint64_t>;
using Vector = hn::Vec<Tag>;

// Vectors side by side, as each step waits for the one before.
constexpr std::size_t kVectors = 4;

HWY_INLINE Vector Words(std::uint32_t word) { return hn::Set(Tag(), word); }

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Vector Product(Vector words, std::uint32_t multiplier) {
  return Vector(std::uint64_t{static_cast<std::uint32_t>(words.raw)} *
                multiplier);
}

HWY_INLINE Vector Larger(Vector a, Vector b) { return hn::Max(a, b); }
#else
HWY_INLINE auto Halves(Vector words) {
  return hn::BitCast(hn::Repartition<std::uint32_t, Tag>(), words);
}

HWY_INLINE Vector Product(Vector words, std::uint32_t multiplier) {
  return hn::MulEven(Halves(words), Halves(Words(multiplier)));
}

// Of words whose high halves are 0.
HWY_INLINE Vector Larger(Vector a, Vector b) {
  return hn::BitCast(Tag(), hn::Max(Halves(a), Halves(b)));
}
#endif

HWY_INLINE Vector High(Vector product) { return hn::ShiftRight<32>(product); }

// A Philox counter of each lane.
struct Counters {
  Vector c0, c1, c2, c3;
};

HWY_INLINE void Round(const PhiloxKeys::value_type& key, Counters& c) {
  const Vector product0 = Product(c.c0, kPhiloxMultipliers[0]);
  const Vector product1 = Product(c.c2, kPhiloxMultipliers[1]);
  c.c0 = hn::Xor(High(product1), hn::Xor(c.c1, Words(key[0])));
  c.c1 = product1;
  c.c2 = hn::Xor(High(product0), hn::Xor(c.c3, Words(key[1])));
  c.c3 = product0;
}

// The first two rounds of counters (block, epoch, element, domain): half of
// their words are the same for all elements.
class FirstRounds {
 public:
  FirstRounds(const PermutationRounds& rounds, std::uint32_t block) {
    const PhiloxKeys& keys = rounds.philox_keys;
    const std::uint64_t product0 = std::uint64_t{kPhiloxMultipliers[0]} * block;
    const std::uint32_t c2 =
        static_cast<std::uint32_t>(product0 >> 32) ^ rounds.domain ^ keys[0][1];
    const std::uint64_t product1 = std::uint64_t{kPhiloxMultipliers[1]} * c2;
    first0_ = Words(rounds.epoch ^ keys[0][0]);
    second0_ = Words(static_cast<std::uint32_t>(product1 >> 32) ^ keys[1][0]);
    second1_ = Words(static_cast<std::uint32_t>(product1));
    second2_ = Words(static_cast<std::uint32_t>(product0) ^ keys[1][1]);
  }

  [[nodiscard]] HWY_INLINE Counters Of(Vector elements) const {
    const Vector product1 = Product(elements, kPhiloxMultipliers[1]);
    const Vector product0 =
        Product(hn::Xor(High(product1), first0_), kPhiloxMultipliers[0]);
    return {.c0 = hn::Xor(product1, second0_),
            .c1 = second1_,
            .c2 = hn::Xor(High(product0), second2_),
            .c3 = product0};
  }

 private:
  Vector first0_, second0_, second1_, second2_;
};

// The last round's word of that number alone.
template <int kWord>
HWY_INLINE Vector LastRound(const PhiloxKeys::value_type& key,
                            const Counters& c) {
  const Vector product = kWord < 2 ? Product(c.c2, kPhiloxMultipliers[1])
                                   : Product(c.c0, kPhiloxMultipliers[0]);
  if constexpr (kWord == 0) {
    return hn::Xor(High(product), hn::Xor(c.c1, Words(key[0])));
  } else if constexpr (kWord == 2) {
    return hn::Xor(High(product), hn::Xor(c.c3, Words(key[1])));
  } else {
    return product;
  }
}

// Some rounds, whose bits are in the same word of the same block.
template <int kWord>
HWY_INLINE void SwapByWord(const PermutationRounds& rounds, std::size_t begin,
                           std::size_t end, Vector (&x)[kVectors]) {
  const PhiloxKeys& keys = rounds.philox_keys;
  const FirstRounds first(rounds,
                          static_cast<std::uint32_t>(begin / kBitsPerBlock));
  const Vector size = Words(rounds.size);
  for (std::size_t round = begin; round < end; ++round) {
    const Vector round_key = Words(rounds.keys[round]);
    Vector partner[kVectors];
    Counters counters[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) {
      // (key - x) mod size: the high half is all ones if key < x.
      const Vector difference = hn::Sub(round_key, x[i]);
      partner[i] = hn::Add(difference, hn::And(High(difference), size));
      counters[i] = first.Of(Larger(x[i], partner[i]));
    }
    for (std::size_t step = 2; step + 2 < keys.size(); ++step) {
      for (Counters& c : counters) {
        Round(keys[step], c);
      }
    }
    const Vector bit = Words(1U << (round % 32));
    for (std::size_t i = 0; i < kVectors; ++i) {
      Round(keys[keys.size() - 2], counters[i]);
      const Vector word = LastRound<kWord>(keys.back(), counters[i]);
      x[i] = hn::IfThenElse(hn::TestBit(word, bit), partner[i], x[i]);
    }
  }
}

HWY_INLINE void SwapAll(const PermutationRounds& rounds,
                        Vector (&x)[kVectors]) {
  const std::size_t count = rounds.keys.size();
  for (std::size_t begin = 0; begin < count; begin += 32) {
    const std::size_t end = std::min(begin + 32, count);
    switch (begin / 32 % 4) {
      case 0:
        SwapByWord<0>(rounds, begin, end, x);
        break;
      case 1:
        SwapByWord<1>(rounds, begin, end, x);
        break;
      case 2:
        SwapByWord<2>(rounds, begin, end, x);
        break;
      default:
        SwapByWord<3>(rounds, begin, end, x);
    }
  }
}

void Swap(const PermutationRounds& rounds, std::uint32_t* elements,
          std::size_t count) {
  constexpr std::size_t kMost = kVectors * HWY_LANES(std::uint64_t);
  const std::size_t lanes = hn::Lanes(Tag());
  HWY_ALIGN std::uint64_t words[kMost] = {};
  for (std::size_t first = 0; first < count; first += kVectors * lanes) {
    const std::size_t some = std::min(count - first, kVectors * lanes);
    std::copy_n(elements + first, some, words);
    Vector x[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) {
      x[i] = hn::Load(Tag(), words + i * lanes);
    }
    SwapAll(rounds, x);
    for (std::size_t i = 0; i < kVectors; ++i) {
      hn::Store(x[i], Tag(), words + i * lanes);
    }
    for (std::size_t i = 0; i < some; ++i) {
      elements[first + i] = static_cast<std::uint32_t>(words[i]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(Swap);

void SwapInLanes(const PermutationRounds& rounds,
                 std::span<std::uint32_t> elements) {
  HWY_DYNAMIC_DISPATCH(Swap)(rounds, elements.data(), elements.size());
}

}  // namespace infeed
#endif  // HWY_ONCE
