#include "records/tfrecord/index_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/payload.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/tfrecord/byte_stream.h"
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
  if (!starts_at_frame || !ends_at_frame || first == last) {
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

namespace {

// Headers are read a page at a time, so that small records share a read and the
// payloads of large records are not read. For remote objects larger reads are
// cheaper than more requests.
constexpr std::size_t kFileScanBytes = 4096;
constexpr std::size_t kObjectScanBytes = std::size_t{1} << 20;
constexpr std::size_t kUnpackBytes = std::size_t{256} << 10;

FrameOffsets ScanPlain(const ByteSource& shard, std::int64_t max_record_bytes) {
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
    place.offset += length + kFrameOverhead;
    ++place.record;
  }
  return offsets;
}

// Returns the size of the frame at a place in bytes; 0 at the stream's end.
std::int64_t FrameBytes(StreamBuffer& buffer, const FramePlace& place) {
  buffer.Release(place.offset);
  const auto header = buffer.View(place.offset, kFrameHeaderBytes);
  if (header.empty()) {
    return 0;
  }
  const std::int64_t length = DecodeFrameHeader(header, place);
  const std::size_t body_bytes =
      static_cast<std::size_t>(length) + kFrameFooterBytes;
  CheckFrameIsWhole(
      buffer.View(place.offset + static_cast<std::int64_t>(kFrameHeaderBytes),
                  body_bytes),
      length, place);
  return length + kFrameOverhead;
}

ShardFrames ScanPacked(const ByteSource& shard, Compression compression,
                       std::int64_t max_record_bytes) {
  StreamBuffer buffer(OpenStream(shard), kUnpackBytes);
  ShardFrames frames = {.compression = compression};
  FramePlace place = {.path = shard.path(),
                      .file_size = buffer.stream().size(),
                      .max_record_bytes = max_record_bytes};
  try {
    while (const std::int64_t bytes = FrameBytes(buffer, place)) {
      frames.offsets.push_back(place.offset);
      place.offset += bytes;
      ++place.record;
    }
  } catch (const DataError& error) {
    throw error.At(place.origin());
  }
  frames.stream_bytes = place.offset;
  return frames;
}

}  // namespace

Compression ReadCompression(const ByteSource& shard) {
  std::array<std::byte, kFrameHeaderBytes> start{};
  const std::size_t got = shard.ReadAt(0, start);
  return DetectCompression(std::span(start).first(got));
}

FrameOffsets ScanFrames(const ByteSource& shard,
                        std::int64_t max_record_bytes) {
  const Compression compression = ReadCompression(shard);
  if (compression != Compression::kNone) {
    throw UsageError(shard.path() + ": is a " +
                     std::string(CompressionName(compression)) +
                     " stream, which has no random access: write uncompressed "
                     "shards with `records reshard`");
  }
  return ScanPlain(shard, max_record_bytes);
}

ShardFrames ScanShard(const ByteSource& shard, std::int64_t max_record_bytes) {
  const Compression compression = ReadCompression(shard);
  if (compression != Compression::kNone) {
    return ScanPacked(shard, compression, max_record_bytes);
  }
  return {.stream_bytes = shard.size(),
          .offsets = ScanPlain(shard, max_record_bytes)};
}

}  // namespace infeed
