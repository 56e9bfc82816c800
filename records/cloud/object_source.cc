#include "records/cloud/object_source.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "records/http/url.h"

namespace infeed {
namespace {

// Scores to detect reading in order: a read that continues the one before
// counts much; one that skips a little, as reads of frame headers do, counts
// less. From kOrderEnough on, reads are expected to go on in order.
constexpr int kOrderOfNext = 4;
constexpr int kOrderOfNear = 1;
constexpr int kOrderEnough = 8;
constexpr std::int64_t kNearBytes = std::int64_t{1} << 20;

}  // namespace

ObjectSource::ObjectSource(const std::string& url)
    : ObjectSource(url, SharedObjectStore()->Stat(url)) {}

ObjectSource::ObjectSource(const std::string& url, ObjectInfo info)
    : ByteSource(UrlForMessages(url)),
      runtime_(SharedCloudRuntime()),
      url_(url),
      info_(std::move(info)),
      ahead_(std::make_unique<ReadAhead>(*runtime_, url_, info_)) {
  set_size(info_.size);
  set_version(info_.version());
}

std::size_t ObjectSource::ReadAt(std::int64_t offset,
                                 std::span<std::byte> destination) const {
  Check(offset >= 0, "an object starts at 0");
  const std::int64_t end = std::min(
      info_.size, offset + static_cast<std::int64_t>(destination.size()));
  if (end <= offset) {
    return 0;
  }
  const std::int64_t block_bytes = runtime_->settings.block_bytes;
  if (IsInOrder(offset, end) && runtime_->settings.read_ahead_blocks > 0) {
    const std::int64_t blocks_end =
        (end / block_bytes + 1 + runtime_->settings.read_ahead_blocks) *
        block_bytes;
    ahead_->Start(offset, blocks_end, offset);
  }
  for (std::int64_t place = offset; place < end;) {
    const auto rest =
        destination.subspan(static_cast<std::size_t>(place - offset),
                            static_cast<std::size_t>(end - place));
    std::size_t got = ahead_->Take(place, rest);
    if (got == 0) {
      got = std::min<std::size_t>(
          rest.size(),
          static_cast<std::size_t>(ahead_->NextBegin(place) - place));
      ReadDirectly(place, rest.first(got));
    }
    place += static_cast<std::int64_t>(got);
  }
  return static_cast<std::size_t>(end - offset);
}

void ObjectSource::WillRead(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && bytes > 0 && offset < info_.size) {
    ahead_->Start(offset, offset + std::min(bytes, info_.size - offset), 0);
  }
}

// Whether the latest reads went forward in the object.
bool ObjectSource::IsInOrder(std::int64_t offset, std::int64_t end) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t step = offset - std::exchange(last_end_, end);
  if (step < 0 || step > kNearBytes) {
    order_ = 0;
  } else {
    order_ = std::min(order_ + (step == 0 ? kOrderOfNext : kOrderOfNear),
                      kOrderEnough);
  }
  return order_ >= kOrderEnough;
}

// Fetches long ranges as blocks in parallel.
void ObjectSource::ReadDirectly(std::int64_t offset,
                                std::span<std::byte> destination) const {
  const auto block = static_cast<std::size_t>(runtime_->settings.block_bytes);
  if (destination.size() <= block) {
    runtime_->store.Read(url_, offset, destination, info_);
    return;
  }
  const std::size_t blocks = (destination.size() - 1) / block + 1;
  runtime_->pool->ForEach(blocks, [&](std::size_t i) {
    const std::size_t begin = i * block;
    runtime_->store.Read(
        url_, offset + static_cast<std::int64_t>(begin),
        destination.subspan(begin, std::min(block, destination.size() - begin)),
        info_);
  });
}

}  // namespace infeed
