#pragma once

#include <cstdint>
#include <memory>

#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {

// The bytes of a shard as its reader counts them, unpacked where they are
// compressed, whatever they are: for putting aside what is no good record.
//
// Owns the source. One thread at a time. Throws IoError.
class RawBytes {
 public:
  explicit RawBytes(std::unique_ptr<ByteSource> source);

  // Copies bytes from offset on, those there are, and returns how many: fewer
  // than asked for where they end, or cannot be unpacked any more. Requires:
  // offset is not before the end of the last copy.
  std::int64_t Copy(std::int64_t offset, std::int64_t bytes, ByteSink& sink);

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ByteStream> stream_;
  std::int64_t offset_ = 0;  // of the stream
};

}  // namespace infeed
