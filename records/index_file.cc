#include "records/index_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/compression.h"
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
constexpr std::uint64_t kVersion = 1;
constexpr std::int64_t kOverhead = kFrameOverheadBytes;
// Headers are read a page at a time: small records share a read, and of large
// ones nothing else is read. An object is far away, and asking costs more than
// reading.
constexpr std::size_t kFileScanBytes = 4096;
constexpr std::size_t kObjectScanBytes = std::size_t{1} << 20;
constexpr std::size_t kNumberBytes = 8;
constexpr std::int64_t kMaxIndexBytes = std::int64_t{1} << 33;

void AppendNumber(std::string& out, std::uint64_t value) {
  AppendLittleEndian(out, value, kNumberBytes);
}

// Takes a number off the front. Requires: it is there.
std::uint64_t TakeNumber(std::string_view& text,
                         std::size_t bytes = kNumberBytes) {
  const std::uint64_t value =
      LittleEndianAt(std::as_bytes(std::span(text)), 0, bytes);
  text.remove_prefix(bytes);
  return value;
}

std::uint32_t ChecksumOf(std::string_view text) {
  return Crc32c(std::as_bytes(std::span(text)));
}

// All that comes before the offsets.
std::string IndexFileHeader(std::int64_t shard_size, std::int64_t version,
                            std::uint64_t records) {
  std::string header(kMagic);
  AppendNumber(header, kVersion);
  AppendNumber(header, static_cast<std::uint64_t>(shard_size));
  AppendNumber(header, static_cast<std::uint64_t>(version));
  AppendNumber(header, records);
  return header;
}

// What an index file says, and of which state of its shard.
struct IndexFile {
  std::int64_t shard_size = 0;
  std::int64_t shard_version = 0;
  FrameOffsets offsets;

  [[nodiscard]] bool IsOf(const ByteSource& shard) const {
    return shard_size == shard.size() && shard_version == shard.version();
  }
};

// Whether frames that start there can fill a file of that size.
bool AreFrames(const FrameOffsets& offsets, std::int64_t file_size) {
  if (offsets.empty()) {
    return file_size == 0;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : file_size;
    if (offsets[i] < 0 || end < kOverhead || offsets[i] > end - kOverhead) {
      return false;
    }
  }
  return offsets[0] == 0;
}

// Takes an index file's text for what it says; nullopt when anything is off.
std::optional<IndexFile> ParseIndexFile(std::string_view text) {
  const std::size_t header = IndexFileHeader(0, 0, 0).size();
  const std::size_t checksum = sizeof(std::uint32_t);
  if (text.size() < header + checksum ||
      (text.size() - header - checksum) % kNumberBytes != 0) {
    return std::nullopt;
  }
  std::string_view tail = text.substr(text.size() - checksum);
  text.remove_suffix(checksum);
  if (!text.starts_with(kMagic) ||
      TakeNumber(tail, checksum) != ChecksumOf(text)) {
    return std::nullopt;
  }
  const std::size_t records = (text.size() - header) / kNumberBytes;
  text.remove_prefix(kMagic.size());
  const std::uint64_t version = TakeNumber(text);
  IndexFile file;
  file.shard_size = static_cast<std::int64_t>(TakeNumber(text));
  file.shard_version = static_cast<std::int64_t>(TakeNumber(text));
  if (version != kVersion || TakeNumber(text) != records) {
    return std::nullopt;
  }
  file.offsets.resize(records);
  for (std::int64_t& offset : file.offsets) {
    offset = static_cast<std::int64_t>(TakeNumber(text));
  }
  return AreFrames(file.offsets, file.shard_size) ? std::optional(file)
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

std::string IndexFileText(const ByteSource& shard,
                          const FrameOffsets& offsets) {
  std::string text =
      IndexFileHeader(shard.size(), shard.version(), offsets.size());
  text.reserve(text.size() + offsets.size() * kNumberBytes + kNumberBytes);
  for (const std::int64_t offset : offsets) {
    AppendNumber(text, static_cast<std::uint64_t>(offset));
  }
  AppendLittleEndian(text, ChecksumOf(text), sizeof(std::uint32_t));
  return text;
}

void RefuseCompressed(const ByteSource& shard) {
  std::array<std::byte, kFrameHeaderBytes> start{};
  const std::size_t got = shard.ReadAt(0, start);
  const Compression compression =
      DetectCompression(std::span(start).first(got));
  if (compression != Compression::kNone) {
    throw UsageError(shard.path() + ": is a " +
                     std::string(CompressionName(compression)) +
                     " stream, which has no random access and no index: make "
                     "shards that have with `records reshard`");
  }
}

}  // namespace

FrameOffsets ScanFrames(const ByteSource& shard,
                        std::int64_t max_record_bytes) {
  RefuseCompressed(shard);
  FrameOffsets offsets;
  std::vector<std::byte> page(IsUrl(shard.path()) ? kObjectScanBytes
                                                  : kFileScanBytes);
  std::int64_t page_offset = 0;
  std::size_t page_size = 0;
  FramePlace place = {.path = shard.path(),
                      .file_size = shard.size(),
                      .max_record_bytes = max_record_bytes};
  while (place.offset < place.file_size) {
    auto skipped = static_cast<std::uint64_t>(place.offset - page_offset);
    if (skipped + kFrameHeaderBytes > page_size) {
      page_offset = place.offset;
      page_size = shard.ReadAt(page_offset, page);
      skipped = 0;
    }
    const auto header = std::span(page).first(page_size).subspan(skipped);
    const std::int64_t length = DecodeFrameHeader(header, place);
    offsets.push_back(place.offset);
    place.offset += length + kOverhead;
    ++place.record;
  }
  return offsets;
}

std::optional<FrameOffsets> FindIndex(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    std::optional<IndexFile> file = ReadIndexFile(path);
    if (file && file->IsOf(shard)) {
      return std::move(file->offsets);
    }
  }
  return std::nullopt;
}

std::optional<FrameOffsets> FindIndexHint(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    if (std::optional<IndexFile> file = ReadIndexFile(path)) {
      return std::move(file->offsets);
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

std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  std::string path = SidePathToWrite(shard.path(), kEnding);
  WriteFileAtomically(path, IndexFileText(shard, offsets));
  return path;
}

void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  const std::string path = SidePathBeside(shard.path(), kEnding);
  if (!IsUrl(path)) {
    MakeFolder(fs::path(path).parent_path().string());
  }
  const std::unique_ptr<ByteSink> file = OpenSink(path);
  file->Write(IndexFileText(shard, offsets));
  file->Commit();
}

}  // namespace infeed
