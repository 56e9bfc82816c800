#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "records/byte_sink.h"

namespace infeed {

// Writes an object of s3:// or gs://: one PUT when it is no longer than a part,
// else parts that are uploaded side by side while more is written. The object
// appears at Commit(), whole, or not at all.
//
// Owns the upload, and aborts it unless committed.
// One thread at a time. Throws IoError, and UsageError for a URL that cannot be
// written; after that only destruction is allowed.
class ObjectSink final : public ByteSink {
 public:
  explicit ObjectSink(std::string url);
  ~ObjectSink() override;

  void Write(std::span<const std::byte> bytes) override;
  void Commit() override;
  [[nodiscard]] std::int64_t size() const override;

 private:
  class Upload;
  std::unique_ptr<Upload> upload_;
};

}  // namespace infeed
