#include "records/store/seek_feature.h"

#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/little_endian.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "sk";
constexpr std::size_t kVersionBytes = 2;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kHeadBytes =
    kMagic.size() + kVersionBytes + 2 * kNumberBytes;

bool HasMagic(Bytes bytes) {
  for (std::size_t i = 0; i < kMagic.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(kMagic[i])) {
      return false;
    }
  }
  return true;
}

bool LiesIn(Bytes part, Bytes whole) {
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const auto whole_begin = reinterpret_cast<std::uintptr_t>(whole.data());
  return begin >= whole_begin && part.size() <= whole.size() &&
         begin - whole_begin <= whole.size() - part.size();
}

// Whether the JPEG has checksum crc. If the record's checksum is known, the
// JPEG need not be read: it has crc exactly when the checksum of the bytes
// before it, combined with crc and extended by the bytes behind it, is the
// record's.
bool HasChecksum(Bytes jpeg, std::uint32_t crc, const RecordPayload& record) {
  if (!record.crc32c || !LiesIn(jpeg, record.bytes)) {
    return Crc32c(jpeg) == crc;
  }
  const auto begin =
      static_cast<std::size_t>(jpeg.data() - record.bytes.data());
  const Bytes behind = record.bytes.subspan(begin + jpeg.size());
  const std::uint32_t with_jpeg =
      CombineCrc32c(Crc32c(record.bytes.first(begin)), crc, jpeg.size());
  return ExtendCrc32c(with_jpeg, behind) == *record.crc32c;
}

}  // namespace

std::string_view SeekSealText(SeekSeal seal) {
  switch (seal) {
    case SeekSeal::kGood:
      return "is good";
    case SeekSeal::kDamaged:
      return "is damaged";
    case SeekSeal::kUnknownVersion:
      return "has an unsupported version";
    case SeekSeal::kOtherJpeg:
      return "does not belong to the JPEG";
  }
  std::abort();
}

std::string SealSeekIndex(std::string_view body, Bytes jpeg) {
  Check(jpeg.size() <= std::numeric_limits<std::uint32_t>::max(),
        "a record's JPEG has less than 4 GiB");
  std::string sealed(kMagic);
  AppendLittleEndian(sealed, kVersion, kVersionBytes);
  AppendLittleEndian(sealed, static_cast<std::uint32_t>(jpeg.size()),
                     kNumberBytes);
  AppendLittleEndian(sealed, Crc32c(jpeg), kNumberBytes);
  sealed.append(body);
  AppendLittleEndian(sealed, Crc32c(std::as_bytes(std::span(sealed))),
                     kNumberBytes);
  return sealed;
}

OpenedSeekIndex OpenSeekIndex(Bytes sealed, Bytes jpeg,
                              const RecordPayload& record) {
  if (sealed.size() < kHeadBytes + kNumberBytes || !HasMagic(sealed)) {
    return {.seal = SeekSeal::kDamaged, .body = {}};
  }
  const std::size_t end = sealed.size() - kNumberBytes;
  if (LittleEndianAt(sealed, end, kNumberBytes) != Crc32c(sealed.first(end))) {
    return {.seal = SeekSeal::kDamaged, .body = {}};
  }
  std::size_t place = kMagic.size();
  if (LittleEndianAt(sealed, place, kVersionBytes) != kVersion) {
    return {.seal = SeekSeal::kUnknownVersion, .body = {}};
  }
  place += kVersionBytes;
  const std::uint64_t length = LittleEndianAt(sealed, place, kNumberBytes);
  const auto crc = static_cast<std::uint32_t>(
      LittleEndianAt(sealed, place + kNumberBytes, kNumberBytes));
  if (length != jpeg.size() || !HasChecksum(jpeg, crc, record)) {
    return {.seal = SeekSeal::kOtherJpeg, .body = {}};
  }
  return {.seal = SeekSeal::kGood,
          .body = sealed.subspan(kHeadBytes, end - kHeadBytes)};
}

}  // namespace infeed
