#include "tools/rewrite/raw_bytes.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/tfrecord/compression.h"

namespace infeed {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{1} << 18;

// The next readable bytes; none if the stream is damaged.
std::span<const std::byte> ReadSome(ByteStream& stream,
                                    std::span<std::byte> destination) {
  try {
    return destination.first(stream.Read(destination));
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

RawBytes::RawBytes(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), stream_(OpenStream(*source_)) {}

std::int64_t RawBytes::Copy(std::int64_t offset, std::int64_t bytes,
                            ByteSink& sink) {
  std::vector<std::byte> buffer(kChunkBytes);
  const bool packed = stream_->compression() != Compression::kNone;
  std::int64_t copied = 0;
  while (copied < bytes) {
    const bool skips = packed && offset_ < offset;
    const std::int64_t wanted =
        std::min(skips ? offset - offset_ : bytes - copied, kChunkBytes);
    const auto room = std::span(buffer).first(static_cast<std::size_t>(wanted));
    const std::span<const std::byte> got =
        packed ? ReadSome(*stream_, room)
               : room.first(source_->ReadAt(offset + copied, room));
    if (got.empty()) {
      break;
    }
    offset_ += static_cast<std::int64_t>(got.size());
    if (!skips) {
      sink.Write(got);
      copied += static_cast<std::int64_t>(got.size());
    }
  }
  return copied;
}

}  // namespace infeed
