#include "tools/shards/progress.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/crc32c.h"
#include "records/files/open_source.h"
#include "tools/cli/parallel_for.h"

namespace infeed {
namespace {

// Each object costs a round trip to its store.
constexpr int kOpenAtOnce = 16;

std::int64_t SumFileSizes(const std::vector<std::string>& paths) {
  std::atomic<std::int64_t> bytes = 0;
  ParallelFor(paths.size(), kOpenAtOnce,
              [&](std::size_t i) { bytes += OpenSource(paths[i])->size(); });
  return bytes;
}

constexpr std::size_t kChecksumBytes = std::size_t{1} << 20;

}  // namespace

std::string ReadProgressText(const ReadProgressState& state) {
  const auto bytes = static_cast<double>(state.bytes);
  const auto total = static_cast<double>(state.total_bytes);
  std::string text =
      fmt::format("{} of {}  {:.0f} %", FileSizeText(state.bytes),
                  FileSizeText(state.total_bytes),
                  std::floor(total > 0 ? bytes / total * 100 : 100));
  if (state.seconds > 0 && bytes > 0) {
    const double rate = bytes / state.seconds;
    text += fmt::format("  {}/s  {}  ETA {}", FileSizeText(std::llround(rate)),
                        CountText(state.records, "record"),
                        ShortDuration(std::max(0.0, (total - bytes) / rate)));
  }
  return text;
}

ReadProgress::ReadProgress(std::int64_t total_bytes)
    : state_{.total_bytes = total_bytes} {
  line_.Delay();
}

ReadProgress::~ReadProgress() { line_.Erase(); }

void ReadProgress::Add(std::int64_t bytes, std::int64_t records) {
  const std::lock_guard lock(mutex_);
  state_.bytes += bytes;
  state_.records += records;
  if (line_.IsDue()) {
    state_.seconds = line_.seconds();
    line_.Update(ReadProgressText(state_));
  }
}

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
  const std::int64_t end = offset + std::ssize(bytes);
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

ShardProgress::ShardProgress(const std::vector<std::string>& paths)
    : paths_(paths), progress_(SumFileSizes(paths)) {}

std::unique_ptr<TrackedSource> ShardProgress::Open(std::size_t shard) {
  return std::make_unique<TrackedSource>(
      OpenSource(paths_[shard]),
      [this](std::int64_t bytes) { progress_.Add(bytes, 0); });
}

std::function<void()> ShardProgress::Counter(const Interruption& interruption) {
  return [this, &interruption] {
    interruption.Check();
    AddRecords(1);
  };
}

}  // namespace infeed
