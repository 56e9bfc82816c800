#include "records/tfrecord/frame_scan.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "records/files/open_source.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"

namespace infeed {
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
