#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "records/bytes/byte_sink.h"
#include "records/cloud/cloud_runtime.h"

namespace infeed {

// Writes an object of s3:// or gs://: by one PUT if it is no longer than a
// part, else by parts that are uploaded in parallel while more is written. Part
// sizes grow, so that the 10,000 parts that stores allow are enough for any
// object. The object appears at Commit(), complete, or not at all.
//
// Owns the upload, and aborts it unless committed. One thread at a time. Throws
// IoError, and UsageError for a URL that cannot be written; after that only
// destruction is allowed.
class ObjectSink final : public ByteSink {
 public:
  explicit ObjectSink(const std::string& url);
  // Uses a runtime other than the process's, for example with its own retries.
  ObjectSink(const std::string& url,
             std::shared_ptr<const CloudRuntime> runtime);
  ~ObjectSink() override;
  ObjectSink(const ObjectSink&) = delete;
  ObjectSink& operator=(const ObjectSink&) = delete;

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  [[nodiscard]] std::int64_t size() const override { return size_; }

  // The size of part `number`, counted from 1, when the first parts have this
  // size.
  [[nodiscard]] static std::int64_t PartBytes(int number,
                                              std::int64_t smallest);

 private:
  class Parts;
  void EndPart();

  std::shared_ptr<const CloudRuntime> runtime_;
  std::string url_;
  std::vector<std::byte> part_;  // bytes not sent yet
  std::int64_t size_ = 0;
  int number_ = 1;                // of the part being filled
  std::shared_ptr<Parts> parts_;  // null for a single part
};

}  // namespace infeed
