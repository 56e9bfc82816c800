#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/read_ahead.h"

namespace infeed {

// The bytes of an object in a store or on a web server. A read fetches what it
// asks for, and no more; what is read in order, or announced by WillRead(), is
// fetched ahead in blocks by the process's fetch threads under its byte budget.
//
// Owns its blocks. Const members may be called from several threads at once;
// others need one thread at a time. Throws IoError, and UsageError for a URL or
// credentials that cannot be used. An object that is replaced while it is read
// is an IoError, never a mix of both.
class ObjectSource final : public ByteSource {
 public:
  explicit ObjectSource(const std::string& url);
  // When it is known what is there.
  ObjectSource(const std::string& url, ObjectInfo info);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

  [[nodiscard]] const ObjectInfo& info() const { return info_; }

 private:
  [[nodiscard]] bool IsInOrder(std::int64_t offset, std::int64_t end) const;
  void ReadDirectly(std::int64_t offset,
                    std::span<std::byte> destination) const;

  std::shared_ptr<const CloudRuntime> runtime_;
  std::string url_;  // as it is asked for; path() leaves secrets out
  ObjectInfo info_;
  std::unique_ptr<ReadAhead> ahead_;
  // Where the last read ended, and how much speaks for reading in order.
  mutable std::mutex mutex_;
  mutable std::int64_t last_end_ = 0;
  mutable int order_ = 0;
};

}  // namespace infeed
