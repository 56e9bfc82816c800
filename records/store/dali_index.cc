#include "records/store/dali_index.h"

#include <array>
#include <cstddef>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// Removes a number, and the space or line end behind it, from the front of a
// line.
bool TakeNumber(std::string_view& line, std::int64_t& value) {
  const auto number = TakePlainNumber<std::int64_t>(line);
  if (!number || (!line.empty() && line[0] != ' ')) {
    return false;
  }
  value = *number;
  if (!line.empty()) {
    line.remove_prefix(1);
  }
  return true;
}

// Whether a frame of `bytes` bytes begins at offset.
bool IsFrame(const ByteSource& shard, std::int64_t offset, std::int64_t bytes) {
  std::array<std::byte, kFrameHeaderBytes> header;
  return bytes >= kFrameOverhead && bytes <= shard.size() - offset &&
         shard.ReadAt(offset, header) == header.size() &&
         HasFrameHeader(header) &&
         ClaimedLength(header) ==
             static_cast<std::uint64_t>(bytes - kFrameOverhead);
}

}  // namespace

std::string DaliIndexText(const FrameOffsets& offsets,
                          std::int64_t shard_size) {
  std::string text;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : shard_size;
    text.append(std::to_string(offsets[i]))
        .append(" ")
        .append(std::to_string(end - offsets[i]))
        .append("\n");
  }
  return text;
}

FrameOffsets ParseDaliIndex(std::string_view text, const std::string& name,
                            const ByteSource& shard) {
  FrameOffsets offsets;
  std::int64_t expected = 0;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const auto fail = [&](const std::string& why) {
      throw DataError({.path = name},
                      "line " + std::to_string(number) + ": " + why);
    };
    std::string_view line = TakeLine(text);
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    if (!TakeNumber(line, offset) || !TakeNumber(line, bytes) ||
        !line.empty()) {
      fail("expected an offset, a space and a number of bytes");
    }
    if (offset != expected) {
      fail("record " + std::to_string(number - 1) + " should be at byte " +
           std::to_string(expected) + ", not " + std::to_string(offset));
    }
    if (!IsFrame(shard, offset, bytes)) {
      fail("no record of " + std::to_string(bytes) + " bytes at byte " +
           std::to_string(offset) + " of " + shard.path());
    }
    offsets.push_back(offset);
    expected = offset + bytes;
  }
  if (expected != shard.size()) {
    throw DataError({.path = name}, "ends at byte " + std::to_string(expected) +
                                        ", but " + shard.path() + " has " +
                                        std::to_string(shard.size()));
  }
  return offsets;
}

}  // namespace infeed
