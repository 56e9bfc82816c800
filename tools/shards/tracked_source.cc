#include "tools/shards/tracked_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

constexpr std::size_t kChecksumBytes = std::size_t{1} << 20;

}  // namespace

TrackedSource::TrackedSource(std::unique_ptr<ByteSource> source,
                             std::function<void(std::int64_t)> on_progress)
    : ByteSource(source->path()),
      source_(std::move(source)),
      on_progress_(std::move(on_progress)) {
  set_size(source_->size());
  set_version(source_->version());
}

std::size_t TrackedSource::ReadAt(std::int64_t offset,
                                  std::span<std::byte> destination) const {
  const std::size_t count = source_->ReadAt(offset, destination);
  Note(offset, destination.first(count));
  return count;
}

void TrackedSource::WillRead(std::int64_t offset, std::int64_t bytes) const {
  source_->WillRead(offset, bytes);
}

std::uint32_t TrackedSource::Checksum() const {
  std::vector<std::byte> buffer(kChecksumBytes);
  while (summed_ < size()) {
    if (ReadAt(summed_, buffer) == 0) {
      throw IoError(path() + ": became shorter while it was read");
    }
  }
  return crc_;
}

void TrackedSource::Note(std::int64_t offset,
                         std::span<const std::byte> bytes) const {
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes.size());
  std::int64_t further = 0;
  {
    const std::lock_guard lock(mutex_);
    if (offset <= summed_ && end > summed_) {
      crc_ = ExtendCrc32c(
          crc_, bytes.subspan(static_cast<std::size_t>(summed_ - offset)));
      summed_ = end;
    }
    further = std::max<std::int64_t>(end - furthest_, 0);
    furthest_ += further;
  }
  if (further > 0) {
    on_progress_(further);
  }
}

}  // namespace infeed
