#include "records/archives/zip_entry.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "base/error.h"
#include "records/archives/zip_directory.h"
#include "records/bytes/little_endian.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

constexpr std::uint64_t kLocalHeaderSignature = 0x04034B50;  // "PK\3\4"
constexpr std::uint64_t kDescriptorSignature = 0x08074B50;   // "PK\7\10"
constexpr std::size_t kEntryHeaderBytes = 30;  // without name and extra field

constexpr std::uint64_t kEncryptedFlag = 1U << 0;
constexpr std::uint64_t kDescriptorFlag = 1U << 3;
constexpr std::uint64_t kStored = 0;
constexpr std::uint64_t kDeflated = 8;

// A deflated byte inflates to at most four copies of 258 bytes, each coded in
// two bits.
constexpr std::uint64_t kMaxRatio = 1032;
// ISA-L's sizes have 32 bits.
constexpr std::uint64_t kMaxIsalBytes =
    std::numeric_limits<std::uint32_t>::max();

struct LocalHeader {
  std::string_view name;
  std::uint64_t flags = 0;
  std::uint64_t method = 0;
  // 0 if a data descriptor behind the data has them.
  std::uint32_t crc32 = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::span<const std::byte> rest;  // of the extent: data and descriptor
};

// The four forms of data descriptor in use: CRC-32, packed size and size, with
// or without a signature before and with sizes of 32 or 64 bits.
struct DescriptorForm {
  std::size_t signature_bytes;
  std::size_t number_bytes;

  [[nodiscard]] constexpr std::size_t size() const {
    return signature_bytes + 4 + 2 * number_bytes;
  }
};
constexpr std::array<DescriptorForm, 4> kDescriptorForms = {
    {{4, 4}, {4, 8}, {0, 4}, {0, 8}}};

// Returns the CRC-32 of the descriptor that begins with the bytes if it has
// this form and these sizes.
std::optional<std::uint32_t> DescriptorCrc(std::span<const std::byte> bytes,
                                           const DescriptorForm& form,
                                           std::uint64_t packed_bytes,
                                           std::uint64_t file_bytes) {
  const std::size_t crc = form.signature_bytes;
  const std::size_t sizes = crc + 4;
  if (bytes.size() < form.size() ||
      (crc > 0 && LittleEndianAt(bytes, 0, 4) != kDescriptorSignature) ||
      LittleEndianAt(bytes, sizes, form.number_bytes) != packed_bytes ||
      LittleEndianAt(bytes, sizes + form.number_bytes, form.number_bytes) !=
          file_bytes) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(LittleEndianAt(bytes, crc, 4));
}

// Parses what does not depend on the method, so that messages have the name.
LocalHeader ParseName(std::span<const std::byte> extent) {
  if (extent.size() < kEntryHeaderBytes ||
      LittleEndianAt(extent, 0, 4) != kLocalHeaderSignature) {
    throw DataError(
        "the file changed after it was indexed: no zip entry begins here");
  }
  const std::size_t name_bytes = LittleEndianAt(extent, 26, 2);
  if (name_bytes > extent.size() - kEntryHeaderBytes) {
    throw DataError("the zip entry's name is cut short");
  }
  const auto name = extent.subspan(kEntryHeaderBytes, name_bytes);
  return {.name = AsChars(name),
          .flags = LittleEndianAt(extent, 6, 2),
          .method = LittleEndianAt(extent, 8, 2),
          .rest = extent.subspan(kEntryHeaderBytes + name_bytes)};
}

std::string_view MethodName(std::uint64_t method) {
  switch (method) {
    case 9:
      return " (deflate64)";
    case 12:
      return " (bzip2)";
    case 14:
      return " (LZMA)";
    case 93:
      return " (zstd)";
    case 95:
      return " (xz)";
    default:
      return "";
  }
}

void CheckSupported(const LocalHeader& header) {
  if ((header.flags & kEncryptedFlag) != 0) {
    throw DataError("is encrypted: pack it again without a password");
  }
  if (header.method != kStored && header.method != kDeflated) {
    throw DataError("is packed by method " + std::to_string(header.method) +
                    std::string(MethodName(header.method)) +
                    ": pack it again as stored or deflated");
  }
}

// Adds sizes and checksum, and takes the extra field off `rest`.
void ParseSizes(std::span<const std::byte> extent, LocalHeader& header) {
  const std::size_t extra_bytes = LittleEndianAt(extent, 28, 2);
  if (extra_bytes > header.rest.size()) {
    throw DataError("its local header is cut short");
  }
  const auto extra = header.rest.first(extra_bytes);
  header.rest = header.rest.subspan(extra_bytes);
  if ((header.flags & kDescriptorFlag) != 0) {
    return;  // Some writers leave other numbers than 0 here.
  }
  Zip64Extra zip64(extra);
  header.crc32 = static_cast<std::uint32_t>(LittleEndianAt(extent, 14, 4));
  header.bytes = zip64.Widen(LittleEndianAt(extent, 22, 4));
  header.packed_bytes = zip64.Widen(LittleEndianAt(extent, 18, 4));
}

void CheckCrc(std::span<const std::byte> bytes, std::uint32_t expected) {
  const std::uint32_t crc = ::crc32_gzip_refl(
      0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  if (crc != expected) {
    throw DataError("its CRC-32 does not match: the bytes are damaged");
  }
}

void CheckLength(std::uint64_t bytes, std::int64_t max_bytes) {
  if (bytes > static_cast<std::uint64_t>(max_bytes)) {
    throw DataError("has " + std::to_string(bytes) + " bytes, more than the " +
                    std::to_string(max_bytes) + " allowed");
  }
}

struct Inflation {
  bool is_whole = false;  // false: `out` is too small
  std::size_t packed_bytes = 0;
  std::size_t bytes = 0;
};

// Inflates a raw deflate stream that the packed bytes begin with. Throws
// DataError when it is damaged or cut short.
Inflation Inflate(std::span<const std::byte> packed, std::span<std::byte> out) {
  // Large, so not on the stack; ISA-L initializes what it reads.
  const auto state = std::make_unique_for_overwrite<inflate_state>();
  ::isal_inflate_init(state.get());
  // ISA-L does not write to its input.
  state->next_in = reinterpret_cast<std::uint8_t*>(
      const_cast<std::byte*>(packed.data()));  // NOLINT(*-const-cast)
  state->avail_in = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(packed.size(), kMaxIsalBytes));
  const std::size_t given = state->avail_in;
  state->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  state->avail_out = static_cast<std::uint32_t>(out.size());
  const int result = ::isal_inflate_stateless(state.get());
  const std::size_t taken = given - state->avail_in;
  if (result == ISAL_END_INPUT) {
    throw DataError("its deflated data are cut short");
  }
  if (result != ISAL_DECOMP_OK && result != ISAL_OUT_OVERFLOW) {
    throw DataError("its deflated data are damaged near packed byte " +
                    std::to_string(taken));
  }
  return {.is_whole = result == ISAL_DECOMP_OK,
          .packed_bytes = taken,
          .bytes = out.size() - state->avail_out};
}

std::span<std::byte> Grown(std::vector<std::byte>& buffer, std::size_t bytes) {
  buffer.resize(std::max(buffer.size(), bytes));
  return std::span(buffer).first(bytes);
}

std::span<const std::byte> InflateKnown(const LocalHeader& header,
                                        std::vector<std::byte>& buffer) {
  if (header.bytes > kMaxIsalBytes || header.packed_bytes > kMaxIsalBytes ||
      header.bytes > header.packed_bytes * kMaxRatio) {
    throw DataError("claims " + std::to_string(header.bytes) + " bytes from " +
                    std::to_string(header.packed_bytes) +
                    " packed ones, more than deflate can make of them");
  }
  const auto packed = header.rest.first(header.packed_bytes);
  const auto out = Grown(buffer, header.bytes);
  const Inflation inflation = Inflate(packed, out);
  if (!inflation.is_whole || inflation.bytes != out.size() ||
      inflation.packed_bytes != packed.size()) {
    throw DataError("its sizes do not match: " + std::to_string(packed.size()) +
                    " packed bytes do not inflate to " +
                    std::to_string(out.size()));
  }
  return out;
}

std::span<const std::byte> ReadKnown(const LocalHeader& header,
                                     std::int64_t max_bytes,
                                     std::vector<std::byte>& buffer) {
  if (header.packed_bytes > header.rest.size()) {
    throw DataError("claims " + std::to_string(header.packed_bytes) +
                    " packed bytes, but " + std::to_string(header.rest.size()) +
                    " are there");
  }
  CheckLength(header.bytes, max_bytes);
  if (header.method == kDeflated) {
    return InflateKnown(header, buffer);
  }
  if (header.packed_bytes != header.bytes) {
    throw DataError("is stored, but its sizes differ: " +
                    std::to_string(header.packed_bytes) + " and " +
                    std::to_string(header.bytes) + " bytes");
  }
  return header.rest.first(header.bytes);
}

// Inflates data of unknown length. Sets crc32 to that of the data descriptor
// behind them.
std::span<const std::byte> InflateDescribed(LocalHeader& header,
                                            std::int64_t max_bytes,
                                            std::vector<std::byte>& buffer) {
  const std::uint64_t most =
      std::min(kMaxIsalBytes, header.rest.size() * kMaxRatio);
  const auto limit = static_cast<std::size_t>(
      std::min(most, static_cast<std::uint64_t>(max_bytes)));
  // Images do not shrink, so that the first size is mostly enough.
  std::size_t size = std::max(buffer.size(), 2 * header.rest.size());
  Inflation inflation;
  while (!inflation.is_whole) {
    size = std::min(size, limit);
    inflation = Inflate(header.rest, Grown(buffer, size));
    if (!inflation.is_whole && size == limit) {
      throw DataError("has more than the " + std::to_string(limit) +
                      " bytes allowed");
    }
    size *= 2;
  }
  const auto descriptor = header.rest.subspan(inflation.packed_bytes);
  for (const DescriptorForm& form : kDescriptorForms) {
    if (const auto crc = DescriptorCrc(descriptor, form, inflation.packed_bytes,
                                       inflation.bytes)) {
      header.crc32 = *crc;
      return std::span(buffer).first(inflation.bytes);
    }
  }
  throw DataError("its sizes do not match those of its data descriptor");
}

// Finds the end of stored data of unknown length: the data descriptor ends the
// extent, and its sizes are those of what is before. Sets crc32.
std::span<const std::byte> FindDescribed(LocalHeader& header,
                                         std::int64_t max_bytes) {
  for (const DescriptorForm& form : kDescriptorForms) {
    if (header.rest.size() < form.size()) {
      continue;
    }
    const auto data = header.rest.first(header.rest.size() - form.size());
    if (const auto crc = DescriptorCrc(header.rest.subspan(data.size()), form,
                                       data.size(), data.size())) {
      CheckLength(data.size(), max_bytes);
      header.crc32 = *crc;
      return data;
    }
  }
  throw DataError("its sizes do not match those of its data descriptor");
}

std::span<const std::byte> ReadData(std::span<const std::byte> extent,
                                    LocalHeader& header, std::int64_t max_bytes,
                                    std::vector<std::byte>& buffer) {
  CheckSupported(header);
  ParseSizes(extent, header);
  if ((header.flags & kDescriptorFlag) == 0) {
    return ReadKnown(header, max_bytes, buffer);
  }
  return header.method == kDeflated
             ? InflateDescribed(header, max_bytes, buffer)
             : FindDescribed(header, max_bytes);
}

}  // namespace

ZipFile ReadZipEntry(std::span<const std::byte> extent, std::int64_t max_bytes,
                     std::vector<std::byte>& buffer) {
  LocalHeader header = ParseName(extent);
  try {
    const auto bytes = ReadData(extent, header, max_bytes, buffer);
    CheckCrc(bytes, header.crc32);
    return {.name = header.name, .bytes = bytes, .crc32 = header.crc32};
  } catch (const DataError& error) {
    throw DataError("zip entry " + std::string(header.name) + ": " +
                    error.reason());
  }
}

}  // namespace infeed
