#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

namespace infeed {

// The bytes of a source in order, unpacked if it is compressed.
//
// One thread at a time. Throws IoError, and DataError where a compressed
// stream is damaged or cut short.
class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Fills destination and returns the number of bytes, less than its size only
  // at the end of the stream.
  [[nodiscard]] virtual std::size_t Read(std::span<std::byte> destination) = 0;

  // The number of bytes that Read() gives in all; the largest number if that is
  // not known beforehand.
  [[nodiscard]] virtual std::int64_t size() const = 0;

  [[nodiscard]] virtual Compression compression() const = 0;
};

// Opens a stream at the source's first byte. Detects compression by content.
// The source must outlive the stream.
[[nodiscard]] std::unique_ptr<ByteStream> OpenStream(const ByteSource& source);

// Returns a sink that compresses into another sink, with the settings of
// TensorFlow's writer: level -1 (zlib's 6), window of 32 KiB, memory level 9.
// size() counts the packed bytes so far, without those that zlib still holds.
// Requires: compression is not kNone.
[[nodiscard]] std::unique_ptr<ByteSink> DeflateSink(
    std::unique_ptr<ByteSink> packed, Compression compression);

}  // namespace infeed
