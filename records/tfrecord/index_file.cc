#include "records/tfrecord/index_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "records/bytes/payload.h"
#include "records/files/side_file.h"
#include "records/files/side_format.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

constexpr std::string_view kMagic = "infeedIX";
constexpr std::string_view kEnding = ".index";
// Compression and bytes of the stream; the offsets follow.
constexpr std::size_t kLeadingBytes = 2 * sizeof(std::int64_t);

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

std::optional<ShardFrames> ParseFrames(const SideFile& file) {
  const std::string_view payload = file.payload;
  const auto leading = ParseNumbers(payload.substr(0, kLeadingBytes));
  if (!leading || leading->size() != 2 || leading->front() < 0 ||
      leading->front() > static_cast<std::int64_t>(Compression::kZlib)) {
    return std::nullopt;
  }
  auto offsets = ParseNumbers(payload.substr(kLeadingBytes));
  ShardFrames frames = {
      .compression = static_cast<Compression>(leading->front()),
      .stream_bytes = leading->back()};
  const bool fits = frames.compression != Compression::kNone ||
                    frames.stream_bytes == file.source.size;
  if (!fits || !offsets || !AreFrames(*offsets, frames.stream_bytes)) {
    return std::nullopt;
  }
  frames.offsets = *std::move(offsets);
  return frames;
}

std::string MakePayload(const ShardFrames& frames) {
  std::string payload;
  AppendNumbers(payload, {{static_cast<std::int64_t>(frames.compression),
                           frames.stream_bytes}});
  AppendNumbers(payload, frames.offsets);
  return payload;
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
  return FindSideFile(shard, kEnding, kMagic, ParseFrames);
}

std::optional<FrameOffsets> FindIndex(const ByteSource& shard) {
  return PlainOffsets(FindFrames(shard));
}

std::optional<FrameOffsets> FindIndexHint(const ByteSource& shard) {
  for (const std::string& path : SidePaths(shard.path(), kEnding)) {
    const std::optional<SideFile> file = ReadSideFile(path, kMagic);
    if (std::optional<ShardFrames> frames =
            file ? ParseFrames(*file) : std::nullopt) {
      return PlainOffsets(std::move(frames));
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
  return SaveSideFile(shard, kEnding, kMagic, MakePayload(frames));
}

std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  return SaveFrames(shard, PlainFrames(shard, offsets));
}

void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets) {
  WriteSideFile(SidePathBeside(shard.path(), kEnding), kMagic,
                SideSource::Of(shard),
                MakePayload(PlainFrames(shard, offsets)));
}

}  // namespace infeed
