#include "tools/rewrite/record_copier.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/store/record_store.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/parallel_for.h"
#include "tools/shards/set_info.h"

namespace infeed {
namespace {

// on_records is called at least once per this many bytes.
constexpr std::int64_t kSayBytes = std::int64_t{1} << 20;
constexpr std::int64_t kIndexBytes = 16;   // of a record in a RecordIndex
constexpr std::int64_t kPlaceBytes = 160;  // of a block, per record
// A read of neighbouring records, doubled while its buffer grows, and a file's
// write buffer.
constexpr std::int64_t kBufferBytes = std::int64_t{20} << 20;

// Some records of the order, in memory. Reused for each block.
class RecordBlock {
 public:
  RecordBlock(const RecordIndex& index, const RecordStore& store,
              std::int64_t max_bytes)
      : index_(index), store_(store), max_bytes_(max_bytes) {}

  // Adds a record; returns false, without adding it, if there is no room. An
  // empty block has room for any record.
  bool Add(std::int64_t record) {
    const std::int64_t length = index_.at(record).length;
    if (!records_.empty() && taken_ + length + kPlaceBytes > max_bytes_) {
      return false;
    }
    records_.push_back(record);
    parts_.push_back(
        {.begin = bytes_, .size = static_cast<std::size_t>(length)});
    bytes_ += static_cast<std::size_t>(length);
    taken_ += length + kPlaceBytes;
    return true;
  }

  // Reads the records, appends the good ones in order, and empties the block.
  void MoveTo(TfrecordWriter& writer, BadRecords& bad, const OnRecords& moved) {
    if (buffer_.size() < bytes_) {
      buffer_ = {};  // Freed before the new one is allocated.
      buffer_.resize(bytes_);
    }
    store_.ReadMany(
        records_,
        [&](std::size_t place, std::span<const std::byte> payload) {
          std::copy(payload.begin(), payload.end(),
                    buffer_.begin() +
                        static_cast<std::ptrdiff_t>(parts_[place].begin));
        },
        [&](std::size_t place, const DataError& error) {
          bad.Take(error);
          parts_[place].good = false;
        });
    Append(writer, moved);
    records_.clear();
    parts_.clear();
    bytes_ = 0;
    taken_ = 0;
  }

 private:
  struct Part {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool good = true;
  };

  void Append(TfrecordWriter& writer, const OnRecords& moved) const {
    std::int64_t bytes = 0;
    std::int64_t records = 0;
    for (const Part& part : parts_) {
      if (part.good) {
        writer.Append(
            std::span<const std::byte>(buffer_).subspan(part.begin, part.size));
      }
      bytes += static_cast<std::int64_t>(part.size + kFrameOverheadBytes);
      ++records;
      if (bytes >= kSayBytes) {
        moved(std::exchange(bytes, 0), std::exchange(records, 0));
      }
    }
    moved(bytes, records);
  }

  const RecordIndex& index_;
  const RecordStore& store_;
  const std::int64_t max_bytes_;
  std::vector<std::int64_t> records_;
  std::vector<Part> parts_;
  std::vector<std::byte> buffer_;
  std::size_t bytes_ = 0;   // of payloads
  std::int64_t taken_ = 0;  // of memory
};

}  // namespace

CopyMemory PlanCopyMemory(const RecordIndex& index, std::size_t shards,
                          const CopyOptions& options) {
  // Each thread holds a block, a read buffer and a file's write buffer.
  const std::int64_t fixed = kBufferBytes + 2 * index.max_length();
  const std::int64_t least = fixed + index.max_length() + kPlaceBytes;
  const std::int64_t of_index = kIndexBytes * index.size();
  const std::int64_t room = options.memory_limit - of_index;
  if (room < least) {
    throw UsageError(fmt::format(
        "--memory_limit {} is too small for {} records of up to {}: "
        "give {} or more",
        options.memory_limit, index.size(), FileSizeText(index.max_length()),
        of_index + least));
  }
  const auto wanted =
      static_cast<std::int64_t>(std::min(ThreadCount(options.threads), shards));
  // Without records there are no classes, so no shards.
  const std::int64_t threads =
      std::max<std::int64_t>(1, std::min(room / least, wanted));
  return {.threads = static_cast<int>(threads),
          .block_bytes = room / threads - fixed};
}

std::vector<DatasetInfo::Shard> CopyRecords(
    const RecordIndex& index,
    const std::function<std::int64_t(std::int64_t)>& record_at,
    const std::vector<NewShard>& shards, const CopyOptions& options,
    BadRecords& bad, const OnRecords& on_records) {
  const CopyMemory memory = PlanCopyMemory(index, shards.size(), options);
  const RecordStore store(index);
  std::vector<DatasetInfo::Shard> written(shards.size());
  ParallelFor(shards.size(), memory.threads, [&](std::size_t i) {
    const NewShard& shard = shards[i];
    TfrecordWriter writer(
        shard.path, {.compression = options.compression, .write_index = true});
    RecordBlock block(index, store, memory.block_bytes);
    const auto flush = [&] { block.MoveTo(writer, bad, on_records); };
    const ShardRange range = shard.range;
    for (std::int64_t at = range.first; at < range.first + range.count; ++at) {
      const std::int64_t record = record_at(at);
      if (!block.Add(record)) {
        flush();
        (void)block.Add(record);
      }
    }
    flush();
    writer.Close();
    written[i] = DescribeShard(shard.name, writer);
  });
  return written;
}

}  // namespace infeed
