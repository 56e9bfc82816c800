#pragma once

#include <cstdint>
#include <memory>

#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {

// The bytes of a shard at the reader's offsets, decompressed if the shard is
// compressed, without parsing: to copy bytes that are not a good record.
//
// Owns the source. One thread at a time. Throws IoError.
class RawBytes {
 public:
  explicit RawBytes(std::unique_ptr<ByteSource> source);

  // Copies bytes from offset on and returns how many: fewer than requested if
  // the shard ends or cannot be decompressed further. Requires: offset is not
  // before the end of the last copy.
  std::int64_t Copy(std::int64_t offset, std::int64_t bytes, ByteSink& sink);

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ByteStream> stream_;
  std::int64_t offset_ = 0;  // of the stream
};

}  // namespace infeed
