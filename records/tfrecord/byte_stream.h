#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

namespace infeed {

// The bytes of a source in order, unpacked where they are compressed.
//
// One thread at a time. Throws IoError, and DataError where a compressed
// stream is damaged or cut short.
class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Fills destination and returns how many bytes there were: fewer than asked
  // for only where they end.
  [[nodiscard]] virtual std::size_t Read(std::span<std::byte> destination) = 0;

  // Of the bytes that Read() gives; the largest number there is where that is
  // not known beforehand.
  [[nodiscard]] virtual std::int64_t size() const = 0;

  [[nodiscard]] virtual Compression compression() const = 0;
};

// Begins at the source's first byte, and looks at its content to tell whether
// it is compressed. The source must outlive the stream.
[[nodiscard]] std::unique_ptr<ByteStream> OpenStream(const ByteSource& source);

}  // namespace infeed
