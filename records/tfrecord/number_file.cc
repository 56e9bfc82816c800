#include "records/tfrecord/number_file.h"

#include <cstddef>
#include <memory>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/little_endian.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kChecksumBytes = 4;
// Magic, version, size and version of the shard, count.
constexpr std::size_t kHeaderBytes = kMagicBytes + 4 * kNumberBytes;
constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 33;

void AppendNumber(std::string& out, std::uint64_t value) {
  AppendLittleEndian(out, value, kNumberBytes);
}

// Removes a number from the front of text. Requires: text has one.
std::uint64_t TakeNumber(std::string_view& text,
                         std::size_t bytes = kNumberBytes) {
  const std::uint64_t value =
      LittleEndianAt(std::as_bytes(std::span(text)), 0, bytes);
  text.remove_prefix(bytes);
  return value;
}

std::uint32_t ComputeChecksum(std::string_view text) {
  return Crc32c(std::as_bytes(std::span(text)));
}

// Parses a file's text; nullopt when anything is invalid.
std::optional<NumberFile> Parse(std::string_view text, std::string_view magic) {
  if (text.size() < kHeaderBytes + kChecksumBytes ||
      (text.size() - kHeaderBytes - kChecksumBytes) % kNumberBytes != 0) {
    return std::nullopt;
  }
  std::string_view tail = text.substr(text.size() - kChecksumBytes);
  text.remove_suffix(kChecksumBytes);
  if (!text.starts_with(magic) ||
      TakeNumber(tail, kChecksumBytes) != ComputeChecksum(text)) {
    return std::nullopt;
  }
  const std::size_t count = (text.size() - kHeaderBytes) / kNumberBytes;
  text.remove_prefix(kMagicBytes);
  const std::uint64_t version = TakeNumber(text);
  NumberFile file;
  file.shard_size = static_cast<std::int64_t>(TakeNumber(text));
  file.shard_version = static_cast<std::int64_t>(TakeNumber(text));
  if (version != kVersion || TakeNumber(text) != count) {
    return std::nullopt;
  }
  file.numbers.resize(count);
  for (std::int64_t& number : file.numbers) {
    number = static_cast<std::int64_t>(TakeNumber(text));
  }
  return file;
}

// Throws IoError.
std::string ReadObject(const std::string& url) {
  const std::unique_ptr<ByteSource> object = OpenSource(url);
  if (object->size() > kMaxFileBytes) {
    throw IoError(url + ": is too large for a side file");
  }
  std::string text(static_cast<std::size_t>(object->size()), '\0');
  text.resize(object->ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace

std::optional<NumberFile> ReadNumberFile(const std::string& path,
                                         std::string_view magic) {
  try {
    return Parse(
        IsUrl(path) ? ReadObject(path) : ReadWholeFile(path, kMaxFileBytes),
        magic);
  } catch (const IoError&) {
    return std::nullopt;
  }
}

std::string NumberFileText(const ByteSource& shard, std::string_view magic,
                           const std::vector<std::int64_t>& numbers) {
  Check(magic.size() == kMagicBytes, "the magic has eight bytes");
  std::string text(magic);
  text.reserve(kHeaderBytes + numbers.size() * kNumberBytes + kChecksumBytes);
  AppendNumber(text, kVersion);
  AppendNumber(text, static_cast<std::uint64_t>(shard.size()));
  AppendNumber(text, static_cast<std::uint64_t>(shard.version()));
  AppendNumber(text, numbers.size());
  for (const std::int64_t number : numbers) {
    AppendNumber(text, static_cast<std::uint64_t>(number));
  }
  AppendLittleEndian(text, ComputeChecksum(text), kChecksumBytes);
  return text;
}

}  // namespace infeed
