#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "records/cloud/cloud_runtime.h"
#include "records/cloud/object_store.h"

namespace infeed {

// Fetches ranges of one object before they are read, on the process's fetch
// threads and within its byte budget.
//
// Owns the ranges; each is dropped after it was read once. The runtime must
// outlive it. Thread-safe. Take() rethrows the IoError of the fetch.
class ReadAhead {
 public:
  ReadAhead(const CloudRuntime& runtime, std::string url, ObjectInfo info);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Begins to fetch the missing parts of [begin, end), as far as this object's
  // memory limit and the budget allow, in pieces that end at multiples of the
  // block size. Ranges before keep_from are dropped: they will not be read.
  void Start(std::int64_t begin, std::int64_t end, std::int64_t keep_from);

  // Copies bytes from offset on out of a fetched range and returns their
  // number; waits if the range is being fetched. 0: no range holds offset.
  [[nodiscard]] std::size_t Take(std::int64_t offset,
                                 std::span<std::byte> destination);

  // The begin of the next range behind offset; the object's end if there is
  // none.
  [[nodiscard]] std::int64_t NextBegin(std::int64_t offset) const;

 private:
  class Block;
  struct Entry {
    std::shared_ptr<Block> block;
    std::int64_t taken = 0;     // bytes already read
    std::int64_t last_use = 0;  // reads_ at that time
  };
  // Keyed by the first byte; blocks do not overlap.
  using Blocks = std::map<std::int64_t, Entry>;

  [[nodiscard]] Blocks::iterator Covering(std::int64_t offset);
  void DropBefore(std::int64_t offset);
  [[nodiscard]] bool MakeRoom(std::int64_t bytes);
  [[nodiscard]] bool StartBlock(std::int64_t begin, std::int64_t end);
  void Erase(Blocks::iterator place);
  void EndUse(const std::shared_ptr<Block>& block, std::int64_t bytes);

  const CloudRuntime& runtime_;
  const std::string url_;
  const ObjectInfo info_;
  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  std::int64_t bytes_ = 0;  // in blocks_
  std::int64_t reads_ = 0;
};

}  // namespace infeed
