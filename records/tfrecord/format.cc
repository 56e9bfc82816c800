#include "records/tfrecord/format.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "base/number_bytes.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

constexpr std::size_t kLengthBytes = 8;

std::string Hex(std::uint32_t value) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

std::string ExpectedButFound(std::uint32_t expected, std::uint32_t found) {
  return "(expected " + Hex(expected) + ", found " + Hex(found) + ")";
}

// A guess at what the file is, if its first frame is invalid.
std::string Hint(const FramePlace& place, std::span<const std::byte> header) {
  if (place.offset != 0) {
    return "";
  }
  return AsChars(header).starts_with("PAR1")
             ? " (this is a Parquet file: `infeed convert FILE OUT` of the "
               "Python package makes shards of it)"
             : " (is this a TFRecord file?)";
}

std::string Bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

std::array<std::byte, kFrameHeaderBytes> EncodeFrameHeader(
    std::uint64_t length) {
  const auto bytes = std::bit_cast<std::array<std::byte, kLengthBytes>>(
      FromLittleEndian(length));
  std::array<std::byte, kFrameHeaderBytes> header{};
  std::ranges::copy(bytes, header.begin());
  std::ranges::copy(EncodeFrameFooter(Crc32c(bytes)),
                    header.begin() + kLengthBytes);
  return header;
}

std::array<std::byte, kFrameFooterBytes> EncodeFrameFooter(
    std::uint32_t payload_crc32c) {
  return std::bit_cast<std::array<std::byte, kFrameFooterBytes>>(
      FromLittleEndian(MaskCrc(payload_crc32c)));
}

void AppendFrame(std::string& out, std::string_view payload) {
  const auto header = EncodeFrameHeader(payload.size());
  const auto footer =
      EncodeFrameFooter(Crc32c(std::as_bytes(std::span(payload))));
  out.append(AsChars(header));
  out.append(payload);
  out.append(AsChars(footer));
}

std::int64_t DecodeFrameHeader(std::span<const std::byte> header,
                               const FramePlace& place) {
  if (header.size() < kFrameHeaderBytes) {
    throw DataError(place.origin(), "truncated record: the header needs " +
                                        Bytes(kFrameHeaderBytes) + ", " +
                                        Bytes(header.size()) + " left" +
                                        Hint(place, header));
  }
  const auto length = LoadLittleEndian<std::uint64_t>(header.data());
  const auto stored =
      LoadLittleEndian<std::uint32_t>(header.data() + kLengthBytes);
  const std::uint32_t computed = MaskCrc(Crc32c(header.first(kLengthBytes)));
  if (stored != computed) {
    throw DataError(place.origin(),
                    "corrupted record: the length's checksum does not match " +
                        ExpectedButFound(stored, computed) +
                        Hint(place, header));
  }
  if (length > static_cast<std::uint64_t>(place.max_record_bytes)) {
    throw DataError(place.origin(), "the record has " + Bytes(length) +
                                        ", more than the limit of " +
                                        std::to_string(place.max_record_bytes));
  }
  // Compared without adding to the length, which may be up to 2^63: the sum
  // could overflow.
  const auto left = static_cast<std::uint64_t>(place.file_size - place.offset);
  if (left < kFrameOverheadBytes || length > left - kFrameOverheadBytes) {
    const std::uint64_t rest =
        left < kFrameHeaderBytes ? 0 : left - kFrameHeaderBytes;
    throw DataError(place.origin(),
                    "truncated record: the payload and its "
                    "checksum need " +
                        std::to_string(length) + " + " +
                        Bytes(kFrameFooterBytes) + ", " + Bytes(rest) +
                        " left; the file was cut short: copy or make it again");
  }
  return static_cast<std::int64_t>(length);
}

bool HasFrameHeader(std::span<const std::byte> bytes) {
  return bytes.size() >= kFrameHeaderBytes &&
         LoadLittleEndian<std::uint32_t>(bytes.data() + kLengthBytes) ==
             MaskCrc(Crc32c(bytes.first(kLengthBytes)));
}

std::uint64_t ClaimedLength(std::span<const std::byte> header) {
  return LoadLittleEndian<std::uint64_t>(header.data());
}

bool IsPayloadGood(std::span<const std::byte> body) {
  return Crc32c(body.first(body.size() - kFrameFooterBytes)) ==
         StoredChecksum(body);
}

void CheckFrameIsWhole(std::span<const std::byte> body, std::int64_t length,
                       const FramePlace& place) {
  const std::uint64_t needed =
      static_cast<std::uint64_t>(length) + kFrameFooterBytes;
  if (body.size() != needed) {
    const bool known =
        place.file_size != std::numeric_limits<std::int64_t>::max();
    throw DataError(place.origin(),
                    "truncated record: " + Bytes(needed) + " expected, " +
                        Bytes(body.size()) + " read; " +
                        (known ? "the file is shorter than when it was opened"
                               : "the stream ends there"));
  }
}

std::uint32_t StoredChecksum(std::span<const std::byte> body) {
  return UnmaskCrc(
      LoadLittleEndian<std::uint32_t>(body.last(kFrameFooterBytes).data()));
}

DataError WrongChecksum(const DataError::Origin& origin, std::uint32_t stored,
                        std::uint32_t computed) {
  return {origin, "corrupted record: the payload's checksum does not match " +
                      ExpectedButFound(MaskCrc(stored), MaskCrc(computed))};
}

void CheckPayload(std::span<const std::byte> body, const FramePlace& place) {
  const std::uint32_t stored = StoredChecksum(body);
  const std::uint32_t crc = Crc32c(body.first(body.size() - kFrameFooterBytes));
  if (crc != stored) {
    throw WrongChecksum(place.origin(), stored, crc);
  }
}

}  // namespace infeed
