#include "records/index_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/crc32c.h"
#include "records/little_endian.h"
#include "records/open_sink.h"
#include "records/open_source.h"
#include "records/side_file.h"
#include "records/tfrecord_format.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "infeedIX";
constexpr std::string_view kEnding = ".index";
constexpr std::uint64_t kPlainVersion = 1;
constexpr std::uint64_t kPackedVersion = 2;
constexpr std::int64_t kOverhead = kFrameOverheadBytes;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kChecksumBytes = sizeof(std::uint32_t);
constexpr std::int64_t kMaxIndexBytes = std::int64_t{1} << 33;

void AppendNumber(std::string& out, std::uint64_t value) {
  AppendLittleEndian(out, value, kNumberBytes);
}

// Takes a number off the front; 0 where there is none.
std::uint64_t TakeNumber(std::string_view& text) {
  if (text.size() < kNumberBytes) {
    text = {};
    return 0;
  }
  const std::uint64_t value =
      LittleEndianAt(std::as_bytes(std::span(text)), 0, kNumberBytes);
  text.remove_prefix(kNumberBytes);
  return value;
}

std::uint32_t ChecksumOf(std::string_view text) {
  return Crc32c(std::as_bytes(std::span(text)));
}

// What an index file says, and of which state of its shard.
struct IndexFile {
  std::int64_t shard_size = 0;
  std::int64_t shard_version = 0;
  ShardFrames frames;

  [[nodiscard]] bool IsOf(const ByteSource& shard) const {
    return shard_size == shard.size() && shard_version == shard.version();
  }
};

// Whether frames that start there can fill a stream of that size.
bool AreFrames(const FrameOffsets& offsets, std::int64_t stream_bytes) {
  if (offsets.empty()) {
    return stream_bytes == 0;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : stream_bytes;
    if (offsets[i] < 0 || end < kOverhead || offsets[i] > end - kOverhead) {
      return false;
    }
  }
  return offsets[0] == 0;
}

// Takes the magic and the checksum off; nullopt when they are not right.
std::optional<std::string_view> NumbersOf(std::string_view text) {
  if (text.size() < kMagic.size() + kChecksumBytes ||
      !text.starts_with(kMagic)) {
    return std::nullopt;
  }
  const std::string_view tail = text.substr(text.size() - kChecksumBytes);
  text.remove_suffix(kChecksumBytes);
  if (LittleEndianAt(std::as_bytes(std::span(tail)), 0, kChecksumBytes) !=
      ChecksumOf(text)) {
    return std::nullopt;
  }
  return text.substr(kMagic.size());
}

// Takes what only the index file of a compressed shard has; false when it is
// off.
bool TakePacking(std::string_view& numbers, ShardFrames& frames) {
  const std::uint64_t compression = TakeNumber(numbers);
  frames.stream_bytes = static_cast<std::int64_t>(TakeNumber(numbers));
  frames.compression = static_cast<Compression>(compression);
  return compression == static_cast<std::uint64_t>(Compression::kGzip) ||
         compression == static_cast<std::uint64_t>(Compression::kZlib);
}

// Takes an index file's text for what it says; nullopt when anything is off.
std::optional<IndexFile> ParseIndexFile(std::string_view text) {
  std::optional<std::string_view> numbers = NumbersOf(text);
  if (!numbers) {
    return std::nullopt;
  }
  const std::uint64_t version = TakeNumber(*numbers);
  IndexFile file;
  file.shard_size = static_cast<std::int64_t>(TakeNumber(*numbers));
  file.shard_version = static_cast<std::int64_t>(TakeNumber(*numbers));
  file.frames.stream_bytes = file.shard_size;
  const bool known =
      version == kPlainVersion ||
      (version == kPackedVersion && TakePacking(*numbers, file.frames));
  const std::uint64_t records = TakeNumber(*numbers);
  if (!known || numbers->size() % kNumberBytes != 0 ||
      numbers->size() / kNumberBytes != records) {
    return std::nullopt;
  }
  file.frames.offsets.resize(records);
  for (std::int64_t& offset : file.frames.offsets) {
    offset = static_cast<std::int64_t>(TakeNumber(*numbers));
  }
  return AreFrames(file.frames.offsets, file.frames.stream_bytes)
             ? std::optional(std::move(file))
             : std::nullopt;
}

// Throws IoError.
std::string ReadObject(const std::string& url) {
  const std::unique_ptr<ByteSource> object = OpenSource(url);
  if (object->size() > kMaxIndexBytes) {
    throw IoError(url + ": is too large for an index");
  }
  std::string text(static_cast<std::size_t>(object->size()), '\0');
  text.resize(object->ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

// What an index file says; nullopt when it cannot be read or used: it can be
// made again, so that is as good as none.
std::optional<IndexFile> ReadIndexFile(const std::string& path) {
  try {
    return ParseIndexFile(IsUrl(path) ? ReadObject(path)
                                      : ReadWholeFile(path, kMaxIndexBytes));
  } catch (const IoError&) {
    return std::nullopt;
  }
}

std::string IndexFileText(const ByteSource& shard, const ShardFrames& frames) {
  const bool packed = frames.compression != Compression::kNone;
  std::string text(kMagic);
  text.reserve((frames.offsets.size() + 8) * kNumberBytes);
  AppendNumber(text, packed ? kPackedVersion : kPlainVersion);
  AppendNumber(text, static_cast<std::uint64_t>(shard.size()));
  AppendNumber(text, static_cast<std::uint64_t>(shard.version()));
  if (packed) {
    AppendNumber(text, static_cast<std::uint64_t>(frames.compression));
    AppendNumber(text, static_cast<std::uint64_t>(frames.stream_bytes));
  }
  AppendNumber(text, frames.offsets.size());
  for (const std::int64_t offset : frames.offsets) {
    AppendNumber(text, static_cast<std::uint64_t>(offset));
  }
  AppendLittleEndian(text, ChecksumOf(text), kChecksumBytes);
  return text;
}

ShardFrames PlainFrames(const ByteSource& shard, const FrameOffsets& offsets) {
  return {.stream_bytes = shard.size(), .offsets = offsets};
}

// The offsets of a shard with random access; nullopt of another.
std::optional<FrameOffsets> PlainOffsets(std::optional<ShardFrames> frames) {
  if (!frames || frames->compression != Compression::kNone) {
    return std::nullopt;
  }
  return std::move(frames->offsets);
}

}  // namespace

std::optional<ShardFrames> FindFrames(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    std::optional<IndexFile> file = ReadIndexFile(path);
    if (file && file->IsOf(shard)) {
      return std::move(file->frames);
    }
  }
  return std::nullopt;
}

std::optional<FrameOffsets> FindIndex(const ByteSource& shard) {
  return PlainOffsets(FindFrames(shard));
}

std::optional<FrameOffsets> FindIndexHint(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    if (std::optional<IndexFile> file = ReadIndexFile(path)) {
      return PlainOffsets(std::move(file->frames));
    }
  }
  return std::nullopt;
}

std::optional<RecordRange> LostRecords(const FrameOffsets& known,
                                       std::int64_t offset,
                                       std::int64_t bytes) {
  const auto first = std::lower_bound(known.begin(), known.end(), offset);
  const auto last = std::lower_bound(first, known.end(), offset + bytes);
  const bool starts_at_frame = first != known.end() && *first == offset;
  const bool ends_at_frame = last == known.end() || *last == offset + bytes;
  if (!starts_at_frame || !ends_at_frame) {
    return std::nullopt;
  }
  return RecordRange{first - known.begin(), last - first};
}

std::string SaveFrames(const ByteSource& shard, const ShardFrames& frames) {
  std::string path = SidePathToWrite(shard.path(), kEnding);
  WriteFileAtomically(path, IndexFileText(shard, frames));
  return path;
}

std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  return SaveFrames(shard, PlainFrames(shard, offsets));
}

void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  const std::string path = SidePathBeside(shard.path(), kEnding);
  if (!IsUrl(path)) {
    MakeFolder(fs::path(path).parent_path().string());
  }
  const std::unique_ptr<ByteSink> file = OpenSink(path);
  file->Write(IndexFileText(shard, PlainFrames(shard, offsets)));
  file->Commit();
}

}  // namespace infeed
