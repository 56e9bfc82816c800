#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

// The frames of TFRecord files, for all readers and writers. A file is frames
// back to back, without header, footer or index:
//
//   8 bytes  length L of the payload     ┐ header
//   4 bytes  masked CRC-32C of those 8   ┘
//   L bytes  payload
//   4 bytes  masked CRC-32C of the payload: the footer
//
// All numbers are little-endian. TensorBoard's event files have this format,
// too.
namespace infeed {

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::size_t kFrameFooterBytes = 4;
inline constexpr std::size_t kFrameOverheadBytes =
    kFrameHeaderBytes + kFrameFooterBytes;
inline constexpr std::int64_t kFrameOverhead = kFrameOverheadBytes;  // signed

// The place of a frame and the limits of its length, for checks and messages.
struct FramePlace {
  std::string_view path;
  std::int64_t record = 0;  // from 0 within the file
  std::int64_t offset = 0;  // of the frame's first byte
  // Bytes; offset <= file_size. The largest number if not known, as for a
  // compressed stream.
  std::int64_t file_size = 0;
  std::int64_t max_record_bytes = 0;  // limit of a payload

  [[nodiscard]] DataError::Origin origin() const {
    return {std::string(path), record, offset};
  }
};

[[nodiscard]] std::array<std::byte, kFrameHeaderBytes> EncodeFrameHeader(
    std::uint64_t length);
// Encodes the footer from the payload's checksum.
[[nodiscard]] std::array<std::byte, kFrameFooterBytes> EncodeFrameFooter(
    std::uint32_t payload_crc32c);

// Appends the whole frame of a payload.
void AppendFrame(std::string& out, std::string_view payload);

// Returns the payload's length from a frame's header, which is shorter than
// kFrameHeaderBytes only at the end of the file. The length has passed its
// checksum, is at most max_record_bytes, and the frame ends within the file.
// Throws DataError otherwise; for a file's first frame the message has a guess
// at what the file is.
[[nodiscard]] std::int64_t DecodeFrameHeader(std::span<const std::byte> header,
                                             const FramePlace& place);

// Whether bytes begin with a frame header with a correct checksum.
[[nodiscard]] bool HasFrameHeader(std::span<const std::byte> bytes);

// Whether the payload matches the checksum in its footer. Requires: body is
// payload and footer.
[[nodiscard]] bool IsPayloadGood(std::span<const std::byte> body);

// The payload length in a header. Requires: HasFrameHeader().
[[nodiscard]] std::uint64_t ClaimedLength(std::span<const std::byte> header);

// Throws DataError unless body, the payload and its footer, is `length` +
// kFrameFooterBytes long. A shorter body means that the file shrank while it
// was read.
void CheckFrameIsWhole(std::span<const std::byte> body, std::int64_t length,
                       const FramePlace& place);

// Throws DataError unless the payload matches the checksum in its footer.
// Requires: body is payload and footer.
void CheckPayload(std::span<const std::byte> body, const FramePlace& place);

// The payload's checksum in the footer. Requires: body is payload and footer.
[[nodiscard]] std::uint32_t StoredChecksum(std::span<const std::byte> body);

// The error for a payload whose checksum is not the stored one.
[[nodiscard]] DataError WrongChecksum(const DataError::Origin& origin,
                                      std::uint32_t stored,
                                      std::uint32_t computed);

}  // namespace infeed
