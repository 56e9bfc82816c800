#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_sink.h"
#include "records/cloud/cloud_runtime.h"

namespace infeed {

// Writes an object of s3:// or gs://: one PUT when it is no longer than a part,
// else parts that are uploaded side by side while more is written. Parts grow,
// so that the 10,000 that stores allow suffice for any object. The object
// appears at Commit(), whole, or not at all.
//
// Owns the upload, and gives it up unless committed.
// One thread at a time. Throws IoError, and UsageError for a URL that cannot be
// written; after that only destruction is allowed.
class ObjectSink final : public ByteSink {
 public:
  explicit ObjectSink(const std::string& url);
  // By a runtime other than the process's: with retries of its own, say.
  ObjectSink(const std::string& url,
             std::shared_ptr<const CloudRuntime> runtime);
  ~ObjectSink() override;
  ObjectSink(const ObjectSink&) = delete;
  ObjectSink& operator=(const ObjectSink&) = delete;

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  [[nodiscard]] std::int64_t size() const override { return size_; }

  // The size of the n-th part, from 1 on, when the smallest are this large.
  [[nodiscard]] static std::int64_t PartBytes(int number,
                                              std::int64_t smallest);

 private:
  class Parts;
  void EndPart();

  std::shared_ptr<const CloudRuntime> runtime_;
  std::string url_;
  std::vector<std::byte> part_;  // what is not on its way yet
  std::int64_t size_ = 0;
  int number_ = 1;                // of the part that is being filled
  std::shared_ptr<Parts> parts_;  // once there is a second one
};

}  // namespace infeed
