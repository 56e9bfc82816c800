#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/cloud/cloud_runtime.h"

namespace infeed {

// The bytes of an object in a store or on a web server. A read fetches exactly
// its range; bytes that are read in order, or announced by WillRead(), are
// fetched ahead in blocks by the process's fetch threads within its byte
// budget.
//
// Owns its blocks. Const members may be called from several threads at once;
// others need one thread at a time. Throws IoError, and UsageError for a URL or
// credentials that cannot be used. An object that is replaced while it is read
// gives an IoError, never a mix of two versions.
class ObjectSource final : public ByteSource {
 public:
  explicit ObjectSource(const std::string& url);
  // For an object whose info is already known: sends no request.
  ObjectSource(const std::string& url, ObjectInfo info);
  ~ObjectSource() override;
  ObjectSource(const ObjectSource&) = delete;
  ObjectSource& operator=(const ObjectSource&) = delete;

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

  [[nodiscard]] const ObjectInfo& info() const { return info_; }

 private:
  class ReadAhead;
  [[nodiscard]] bool IsInOrder(std::int64_t offset, std::int64_t end) const;

  std::shared_ptr<const CloudRuntime> runtime_;
  std::string url_;  // as requested; path() omits secrets
  ObjectInfo info_;
  std::unique_ptr<ReadAhead> ahead_;
  // Guards last_end_, where the last read ended, and order_, the score for
  // reading in order.
  mutable std::mutex mutex_;
  mutable std::int64_t last_end_ = 0;
  mutable int order_ = 0;
};

// Fetches a range of an object in blocks, in parallel. Throws IoError.
void FetchRange(const CloudRuntime& runtime, const std::string& url,
                std::int64_t offset, std::span<std::byte> destination,
                const ObjectInfo& info);

}  // namespace infeed
