#include "records/bytes/crc32c.h"

#include <algorithm>
#include <array>

#include <isa-l/crc.h>

#include "base/error.h"
#include "base/number_bytes.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace infeed {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected
constexpr std::size_t kStep = 8;
// For shorter inputs, such as frame headers, ISA-L's start costs too much.
constexpr std::size_t kMinIsalBytes = 256;
// ISA-L takes an int.
constexpr std::size_t kMaxIsalBytes = std::size_t{1} << 30;

using Tables = std::array<std::array<std::uint32_t, 256>, kStep>;

// tables[k][b] is the effect of byte b on the register when k zero bytes
// follow, so that eight look-ups process eight bytes at once ("slicing by 8").
constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < kStep; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// The product of two polynomials modulo the checksum's, bits reflected: the
// highest bit is the coefficient of 1.
constexpr std::uint32_t Multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    product ^= (a >> 31) * b;
    b = (b >> 1) ^ ((b & 1) * kPolynomial);
  }
  return product;
}

// powers[k] is x^(8 * 2^k): the effect of 2^k zero bytes on the register.
constexpr std::array<std::uint32_t, 64> MakePowers() {
  std::array<std::uint32_t, 64> powers{};
  std::uint32_t power = 1U << (31 - 8);
  for (std::uint32_t& place : powers) {
    place = power;
    power = Multiply(power, power);
  }
  return powers;
}

constexpr std::array<std::uint32_t, 64> kPowers = MakePowers();

}  // namespace

std::uint32_t ExtendCrc32cPortable(std::uint32_t crc,
                                   std::span<const std::byte> bytes) {
  crc = ~crc;
  while (bytes.size() >= kStep) {
    const std::uint64_t word =
        LoadLittleEndian<std::uint64_t>(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < kStep; ++i) {
      crc ^= kTables[kStep - 1 - i][(word >> (8 * i)) & 0xFF];
    }
    bytes = bytes.subspan(kStep);
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^
          kTables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  }
  return ~crc;
}

#if defined(__x86_64__)

bool HasCrc32cInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

// Clang wants the second name, too.
__attribute__((target("sse4.2,crc32"))) std::uint32_t ExtendCrc32cHardware(
    std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t state = ~crc;
  while (bytes.size() >= kStep) {
    state = _mm_crc32_u64(state, LoadLittleEndian<std::uint64_t>(bytes.data()));
    bytes = bytes.subspan(kStep);
  }
  auto low = static_cast<std::uint32_t>(state);
  for (const std::byte byte : bytes) {
    low = _mm_crc32_u8(low, std::to_integer<std::uint8_t>(byte));
  }
  return ~low;
}

#elif defined(__aarch64__)

bool HasCrc32cInstruction() {
  static const bool has = (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
  return has;
}

__attribute__((target("+crc"))) std::uint32_t ExtendCrc32cHardware(
    std::uint32_t crc, std::span<const std::byte> bytes) {
  crc = ~crc;
  while (bytes.size() >= kStep) {
    crc = __crc32cd(crc, LoadLittleEndian<std::uint64_t>(bytes.data()));
    bytes = bytes.subspan(kStep);
  }
  for (const std::byte byte : bytes) {
    crc = __crc32cb(crc, std::to_integer<std::uint8_t>(byte));
  }
  return ~crc;
}

#else

bool HasCrc32cInstruction() { return false; }

std::uint32_t ExtendCrc32cHardware(std::uint32_t /*crc*/,
                                   std::span<const std::byte> /*bytes*/) {
  Check(false, "this processor has the portable checksum only");
  return 0;
}

#endif

std::uint32_t ExtendCrc32cIsal(std::uint32_t crc,
                               std::span<const std::byte> bytes) {
  crc = ~crc;
  while (!bytes.empty()) {
    const auto step = bytes.first(std::min(bytes.size(), kMaxIsalBytes));
    // ISA-L takes a pointer to non-const, but does not write.
    auto* const start = const_cast<std::byte*>(step.data());  // NOLINT
    crc = ::crc32_iscsi(reinterpret_cast<unsigned char*>(start),
                        static_cast<int>(step.size()), crc);
    bytes = bytes.subspan(step.size());
  }
  return ~crc;
}

std::uint32_t ExtendCrc32c(std::uint32_t crc,
                           std::span<const std::byte> bytes) {
  if (bytes.size() >= kMinIsalBytes) {
    return ExtendCrc32cIsal(crc, bytes);
  }
  return HasCrc32cInstruction() ? ExtendCrc32cHardware(crc, bytes)
                                : ExtendCrc32cPortable(crc, bytes);
}

std::uint32_t CombineCrc32c(std::uint32_t first, std::uint32_t second,
                            std::uint64_t second_bytes) {
  // The inversions at the start and the end cancel out.
  for (; second_bytes != 0; second_bytes &= second_bytes - 1) {
    first = Multiply(
        kPowers[static_cast<std::size_t>(std::countr_zero(second_bytes))],
        first);
  }
  return first ^ second;
}

}  // namespace infeed
