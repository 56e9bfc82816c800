#include "preprocess/pixels/pixel_hash.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/number_bytes.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/pixels/pixel_hash.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kRoundBytes = 16;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

constexpr std::uint8_t Doubled(std::uint8_t x) {
  return static_cast<std::uint8_t>(x << 1 ^ (x >> 7) * 0x1B);
}

// FIPS 197's S-box: the inverse of each byte, found as powers of 3 and of 1/3,
// by an affine map.
constexpr std::array<std::uint8_t, 256> kSubstitutes = [] {
  std::array<std::uint8_t, 256> substitutes = {0x63};
  std::uint8_t power = 1;
  std::uint8_t inverse = 1;
  do {
    power ^= Doubled(power);
    for (const int shift : {1, 2, 4}) {
      inverse ^= static_cast<std::uint8_t>(inverse << shift);
    }
    inverse ^= (inverse & 0x80) != 0 ? 0x09 : 0;
    std::uint8_t mapped = inverse ^ 0x63;
    for (int turn = 1; turn <= 4; ++turn) {
      mapped ^= std::rotl(inverse, turn);
    }
    substitutes[power] = mapped;
  } while (power != 1);
  return substitutes;
}();

void Round(std::uint8_t* state, const std::uint8_t* key) {
  std::array<std::uint8_t, kRoundBytes> shifted;
  for (std::size_t i = 0; i < kRoundBytes; ++i) {
    shifted[i] = kSubstitutes[state[(i + 4 * (i % 4)) % kRoundBytes]];
  }
  for (std::size_t i = 0; i < kRoundBytes; ++i) {
    const auto in_column = [&](std::size_t by) {
      return shifted[i / 4 * 4 + (i + by) % 4];
    };
    state[i] = Doubled(in_column(0)) ^ Doubled(in_column(1)) ^ in_column(1) ^
               in_column(2) ^ in_column(3) ^ key[i];
  }
}

void AddParts(const std::uint8_t* bytes, std::size_t size, std::size_t place,
              std::uint8_t* states) {
  for (std::size_t at = 0; at < size; at += kRoundBytes) {
    Round(states + (place + at) % PixelHash::kBlockBytes, bytes + at);
  }
}

#else

// The states in registers, several in one where the instruction takes that.
void AddBlocks(const std::uint8_t* HWY_RESTRICT bytes, std::size_t size,
               std::uint8_t* HWY_RESTRICT states) {
  constexpr hn::CappedTag<std::uint8_t, HWY_TARGET <= HWY_AVX3_DL
                                            ? PixelHash::kPartBytes
                                            : kRoundBytes>
      d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  hn::Vec<decltype(d)> now[PixelHash::kBlockBytes / kLanes];
  for (std::size_t i = 0; i < std::size(now); ++i) {
    now[i] = hn::LoadU(d, states + i * kLanes);
  }
  for (std::size_t at = 0; at < size; at += PixelHash::kBlockBytes) {
    for (std::size_t i = 0; i < std::size(now); ++i) {
      now[i] = hn::AESRound(now[i], hn::LoadU(d, bytes + at + i * kLanes));
    }
  }
  for (std::size_t i = 0; i < std::size(now); ++i) {
    hn::StoreU(now[i], d, states + i * kLanes);
  }
}

#if HWY_TARGET == HWY_NEON && !defined(__ARM_FEATURE_AES)

// Highway takes the instructions only if all CPUs that are built for have them.
bool HasAes() {
  static const bool has = (::getauxval(AT_HWCAP) & HWCAP_AES) != 0;
  return has;
}

__attribute__((target("+aes"))) void AddPartsByAes(const std::uint8_t* bytes,
                                                   std::size_t size,
                                                   std::size_t place,
                                                   std::uint8_t* states) {
  for (std::size_t at = 0; at < size; at += kRoundBytes) {
    std::uint8_t* const state = states + (place + at) % PixelHash::kBlockBytes;
    const uint8x16_t mixed =
        vaesmcq_u8(vaeseq_u8(vld1q_u8(state), vdupq_n_u8(0)));
    vst1q_u8(state, veorq_u8(mixed, vld1q_u8(bytes + at)));
  }
}

#endif

void AddParts(const std::uint8_t* bytes, std::size_t size, std::size_t place,
              std::uint8_t* states) {
#if HWY_TARGET == HWY_NEON && !defined(__ARM_FEATURE_AES)
  if (HasAes()) {
    return AddPartsByAes(bytes, size, place, states);
  }
#endif
  std::size_t at = 0;
  const auto add_round = [&]() HWY_ATTR {
    constexpr hn::CappedTag<std::uint8_t, kRoundBytes> d;
    std::uint8_t* const state = states + (place + at) % PixelHash::kBlockBytes;
    hn::StoreU(hn::AESRound(hn::LoadU(d, state), hn::LoadU(d, bytes + at)), d,
               state);
    at += kRoundBytes;
  };
  while (at < size && (place + at) % PixelHash::kBlockBytes != 0) {
    add_round();
  }
  const std::size_t blocks = (size - at) & ~(PixelHash::kBlockBytes - 1);
  AddBlocks(bytes + at, blocks, states);
  at += blocks;
  while (at < size) {
    add_round();
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {
namespace {

constexpr std::array<std::uint8_t, PixelHash::kBlockBytes> kStart = [] {
  std::array<std::uint8_t, PixelHash::kBlockBytes> bytes = {};
  HashChain random;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(random.Add(0).hash());
  }
  return bytes;
}();

}  // namespace

HWY_EXPORT(AddParts);

PixelHash::PixelHash() : states_(kStart) {}

void PixelHash::Add(std::span<const std::byte> bytes) {
  Check(size_ % kPartBytes == 0, "only the last part may be shorter");
  const auto add = [this](std::span<const std::byte> parts) {
    HWY_DYNAMIC_DISPATCH(AddParts)
    (reinterpret_cast<const std::uint8_t*>(parts.data()), parts.size(), place(),
     states());
    size_ += parts.size();
  };
  const std::size_t rest = bytes.size() % kPartBytes;
  add(bytes.first(bytes.size() - rest));
  if (rest != 0) {
    std::array<std::byte, kPartBytes> last = {};
    std::ranges::copy(bytes.last(rest), last.begin());
    add(last);
    size_ -= kPartBytes - rest;
  }
}

std::uint64_t PixelHash::hash() const {
  HashChain hash(size_);
  for (std::size_t at = 0; at < kBlockBytes; at += sizeof(std::uint64_t)) {
    hash.Add(LoadLittleEndian<std::uint64_t>(states_.data() + at));
  }
  return hash.hash();
}

std::uint64_t HashPixels(std::span<const std::byte> bytes) {
  PixelHash hash;
  hash.Add(bytes);
  return hash.hash();
}

}  // namespace infeed
#endif  // HWY_ONCE
