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

// Ranges of one object that are fetched before they are read, by the process's
// fetch threads and under its byte budget.
//
// Owns the ranges; each is dropped when it was read once. The runtime must
// outlive it. Thread-safe. Take() throws the IoError of the fetch.
class ReadAhead {
 public:
  ReadAhead(const CloudRuntime& runtime, std::string url, ObjectInfo info);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Begins to fetch what of [begin, end) is not yet, as far as the memory for
  // this object and the budget allow, in pieces that end at multiples of the
  // block size. What lies before keep_from is dropped: nobody will ask for it.
  void Start(std::int64_t begin, std::int64_t end, std::int64_t keep_from);

  // Copies the fetched bytes from offset on, as many as lie together, and waits
  // for them where they are on their way. 0: none are.
  [[nodiscard]] std::size_t Take(std::int64_t offset,
                                 std::span<std::byte> destination);

  // Where the next fetched range behind offset begins; the object's end when
  // there is none.
  [[nodiscard]] std::int64_t NextBegin(std::int64_t offset) const;

 private:
  class Block;
  struct Entry {
    std::shared_ptr<Block> block;
    std::int64_t taken = 0;     // bytes that were read
    std::int64_t last_use = 0;  // reads_ then
  };
  // Keyed by the first byte; they do not overlap.
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
