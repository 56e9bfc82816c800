#include "records/tfrecord/index_file.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/number_file.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "infeedIX";
// For a compressed shard: two numbers precede the offsets.
constexpr std::string_view kPackedMagic = "infeedIC";
constexpr std::size_t kPackedNumbers = 2;
constexpr std::string_view kEnding = ".index";

// The contents of an index file, and the version of its shard.
struct IndexFile {
  NumberFile file;  // without its numbers
  ShardFrames frames;
};

// Whether frames at these offsets can fill a stream of that size.
bool AreFrames(const FrameOffsets& offsets, std::int64_t stream_bytes) {
  if (offsets.empty()) {
    return stream_bytes == 0;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : stream_bytes;
    if (offsets[i] < 0 || end < kFrameOverhead ||
        offsets[i] > end - kFrameOverhead) {
      return false;
    }
  }
  return offsets[0] == 0;
}

// Interprets the numbers of a compressed shard's file; false if they are
// invalid.
bool TakePacked(const std::vector<std::int64_t>& numbers, ShardFrames& frames) {
  if (numbers.size() < kPackedNumbers) {
    return false;
  }
  frames.compression = static_cast<Compression>(numbers[0]);
  frames.stream_bytes = numbers[1];
  frames.offsets.assign(numbers.begin() + kPackedNumbers, numbers.end());
  return numbers[0] == static_cast<std::int64_t>(Compression::kGzip) ||
         numbers[0] == static_cast<std::int64_t>(Compression::kZlib);
}

// Reads an index file; nullopt when it cannot be read or used. It then counts
// as absent, as it can be made again.
std::optional<IndexFile> ReadIndexFile(const std::string& path) {
  IndexFile index;
  if (std::optional<NumberFile> file = ReadNumberFile(path, kMagic)) {
    index.frames.stream_bytes = file->shard_size;
    index.frames.offsets = std::move(file->numbers);
    index.file = *std::move(file);
  } else if ((file = ReadNumberFile(path, kPackedMagic))) {
    if (!TakePacked(file->numbers, index.frames)) {
      return std::nullopt;
    }
    index.file = *std::move(file);
  } else {
    return std::nullopt;
  }
  return AreFrames(index.frames.offsets, index.frames.stream_bytes)
             ? std::optional(std::move(index))
             : std::nullopt;
}

std::string IndexFileText(const ByteSource& shard, const ShardFrames& frames) {
  if (frames.compression == Compression::kNone) {
    return NumberFileText(shard, kMagic, frames.offsets);
  }
  std::vector<std::int64_t> numbers = {
      static_cast<std::int64_t>(frames.compression), frames.stream_bytes};
  numbers.insert(numbers.end(), frames.offsets.begin(), frames.offsets.end());
  return NumberFileText(shard, kPackedMagic, numbers);
}

ShardFrames PlainFrames(const ByteSource& shard, const FrameOffsets& offsets) {
  return {.stream_bytes = shard.size(), .offsets = offsets};
}

// The offsets of an uncompressed shard; nullopt for a compressed one.
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
    if (file && file->file.IsOf(shard)) {
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
  WriteFileAtomically(path, IndexFileText(shard, frames), kInOwnFolder);
  return path;
}

std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  return SaveFrames(shard, PlainFrames(shard, offsets));
}

void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  const std::string path = SidePathBeside(shard.path(), kEnding);
  if (!IsUrl(path)) {
    MakeFolder(fs::path(path).parent_path().string(), "create", 1);
  }
  const std::unique_ptr<ByteSink> file = OpenSink(path, kInOwnFolder);
  file->Write(IndexFileText(shard, PlainFrames(shard, offsets)));
  file->Commit();
}

}  // namespace infeed
