#include "records/store/record_index.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/cloud/cloud_runtime.h"
#include "records/files/open_source.h"
#include "records/store/image_record.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"

namespace infeed {
namespace {

constexpr std::size_t kThreads = 16;

// The payload's length follows from the offset of the next frame.
std::int64_t PayloadLength(const ShardFrames& frames, std::size_t i) {
  const std::int64_t end = i + 1 < frames.offsets.size() ? frames.offsets[i + 1]
                                                         : frames.stream_bytes;
  return end - frames.offsets[i] - kFrameOverhead;
}

bool AllWithin(const ShardFrames& frames, std::int64_t max_record_bytes) {
  for (std::size_t i = 0; i < frames.offsets.size(); ++i) {
    if (PayloadLength(frames, i) > max_record_bytes) {
      return false;
    }
  }
  return true;
}

// Index files are optional: if they cannot be written, the index is built each
// time; `records index` reports why.
ShardFrames FramesWithCache(const ByteSource& shard,
                            std::int64_t max_record_bytes) {
  std::optional<ShardFrames> found = FindFrames(shard);
  if (found && AllWithin(*found, max_record_bytes)) {
    return *std::move(found);
  }
  ShardFrames frames = ScanShard(shard, max_record_bytes);
  try {
    (void)SaveFrames(shard, frames);
  } catch (const IoError&) {  // The next process builds the index again.
  }
  return frames;
}

ShardFrames LoadFrames(const std::string& path,
                       const RecordIndexOptions& options) {
  const std::unique_ptr<ByteSource> shard = OpenSource(path);
  return options.use_cache ? FramesWithCache(*shard, options.max_record_bytes)
                           : ScanShard(*shard, options.max_record_bytes);
}

// Scans several shards at once, as remote ones answer slowly.
std::vector<ShardFrames> FramesOfAll(const std::vector<std::string>& shards,
                                     const RecordIndexOptions& options) {
  std::vector<ShardFrames> frames(shards.size());
  std::vector<std::future<void>> workers;
  for (std::size_t worker = 0; worker < std::min(kThreads, shards.size());
       ++worker) {
    workers.push_back(std::async(std::launch::async, [&, worker] {
      for (std::size_t i = worker; i < shards.size(); i += kThreads) {
        frames[i] = LoadFrames(shards[i], options);
      }
    }));
  }
  for (std::future<void>& worker : workers) {
    worker.get();  // Rethrows; the destructors of the other futures wait.
  }
  return frames;
}

// Counts records to reserve exact sizes: vectors grown record by record could
// take twice the memory, in each rank of a machine.
std::size_t CountRecords(const std::vector<ShardFrames>& frames) {
  return std::accumulate(frames.begin(), frames.end(), std::size_t{0},
                         [](std::size_t sum, const ShardFrames& shard) {
                           return sum + shard.offsets.size();
                         });
}

template <typename T>
std::span<const std::byte> BytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

RecordIndex::RecordIndex(std::vector<std::string> shards,
                         const RecordIndexOptions& options)
    : shards_(std::move(shards)), uses_cache_(options.use_cache) {
  if (options.max_record_bytes <= 0) {
    throw UsageError("max_record_bytes must be positive, not " +
                     std::to_string(options.max_record_bytes));
  }
  const std::vector<ShardFrames> all = FramesOfAll(shards_, options);
  const std::size_t records = CountRecords(all);
  offsets_.reserve(records);
  lengths_.reserve(records);
  starts_.push_back(0);
  for (const ShardFrames& shard : all) {
    for (std::size_t i = 0; i < shard.offsets.size(); ++i) {
      lengths_.push_back(PayloadLength(shard, i));
      max_length_ = std::max(max_length_, lengths_.back());
    }
    offsets_.insert(offsets_.end(), shard.offsets.begin(), shard.offsets.end());
    starts_.push_back(static_cast<std::int64_t>(offsets_.size()));
    compressions_.push_back(shard.compression);
  }
}

namespace {

// A file without a readable size counts as empty; reading it reports why.
std::int64_t SizeOfFile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

// Requests the sizes of many objects at once.
std::vector<std::int64_t> ListSizes(const std::vector<LabelledImage>& files) {
  std::vector<std::int64_t> sizes(files.size());
  std::vector<std::size_t> objects;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (IsUrl(files[i].path)) {
      objects.push_back(i);
    } else {
      sizes[i] = SizeOfFile(files[i].path);
    }
  }
  if (!objects.empty()) {
    const std::shared_ptr<const CloudRuntime> runtime = SharedCloudRuntime();
    runtime->pool->ForEach(objects.size(), [&](std::size_t i) {
      sizes[objects[i]] = runtime->store.Stat(files[objects[i]].path).size;
    });
  }
  return sizes;
}

}  // namespace

RecordIndex RecordIndex::OfImages(const std::vector<LabelledImage>& files) {
  Check(!files.empty(), "there are images");
  RecordIndex index(std::vector<std::string>{});
  const std::vector<std::int64_t> sizes = ListSizes(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const LabelledImage& file = files[i];
    index.shards_.push_back(file.path);
    index.compressions_.push_back(Compression::kNone);
    index.starts_.push_back(static_cast<std::int64_t>(index.shards_.size()));
    index.offsets_.push_back(0);
    index.lengths_.push_back(sizes[i]);
    index.image_labels_.push_back(file.label);
    index.max_length_ =
        std::max(index.max_length_, ImageRecordBytes(index.lengths_.back()));
  }
  return index;
}

bool RecordIndex::any_compressed() const {
  return std::any_of(
      compressions_.begin(), compressions_.end(),
      [](Compression packed) { return packed != Compression::kNone; });
}

RecordLocation RecordIndex::at(std::int64_t record) const {
  Check(record >= 0 && record < size(), "the record is in the index");
  // The last shard that starts at the record or before; empty ones start
  // where the next one does.
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), record);
  const auto shard = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const auto place = static_cast<std::size_t>(record);
  return {.shard = static_cast<std::int32_t>(shard),
          .number = record - starts_[shard],
          .offset = offsets_[place],
          .length = lengths_[place]};
}

std::string RecordIndex::identity() const {
  std::string names;
  for (const std::string& shard : shards_) {
    names.append(FileNameOf(shard));
    names.push_back('\0');
  }
  std::array<char, 25> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x%08x%08x",
                Crc32c(std::as_bytes(std::span(names))),
                Crc32c(BytesOf(offsets_)), Crc32c(BytesOf(lengths_)));
  return hex.data();
}

}  // namespace infeed
