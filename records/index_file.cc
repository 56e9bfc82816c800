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
#include "records/number_file.h"
#include "records/open_sink.h"
#include "records/open_source.h"
#include "records/side_file.h"
#include "records/tfrecord_format.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "infeedIX";
constexpr std::string_view kEnding = ".index";
constexpr std::int64_t kOverhead = kFrameOverheadBytes;
// Headers are read a page at a time: small records share a read, and of large
// ones nothing else is read. An object is far away, and asking costs more than
// reading.
constexpr std::size_t kFileScanBytes = 4096;
constexpr std::size_t kObjectScanBytes = std::size_t{1} << 20;

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

// What an index file says; nullopt when it cannot be read or used: it can be
// made again, so that is as good as none.
std::optional<NumberFile> ReadIndexFile(const std::string& path) {
  std::optional<NumberFile> file = ReadNumberFile(path, kMagic);
  return file && AreFrames(file->numbers, file->shard_size) ? file
                                                            : std::nullopt;
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
    std::optional<NumberFile> file = ReadIndexFile(path);
    if (file && file->IsOf(shard)) {
      return std::move(file->numbers);
    }
  }
  return std::nullopt;
}

std::optional<FrameOffsets> FindIndexHint(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    if (std::optional<NumberFile> file = ReadIndexFile(path)) {
      return std::move(file->numbers);
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
  WriteFileAtomically(path, NumberFileText(shard, kMagic, offsets));
  return path;
}

void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  const std::string path = SidePathBeside(shard.path(), kEnding);
  if (!IsUrl(path)) {
    MakeFolder(fs::path(path).parent_path().string());
  }
  const std::unique_ptr<ByteSink> file = OpenSink(path);
  file->Write(NumberFileText(shard, kMagic, offsets));
  file->Commit();
}

}  // namespace infeed
