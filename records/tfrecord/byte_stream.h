#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

// A sliding window over a stream: gives access to bytes ahead while keeping
// earlier bytes, as the search for the next record after damage needs.
//
// Allocates memory for bytes that exist, never for bytes that are only
// requested. One thread at a time. Throws what the stream does.
class StreamBuffer {
 public:
  StreamBuffer(std::unique_ptr<ByteStream> stream, std::size_t chunk_bytes);

  // Returns `count` bytes at offset, fewer where the stream ends; valid until
  // the next call. Requires: offset is not before the last Release(), nor
  // behind the end of what View() has returned.
  [[nodiscard]] std::span<const std::byte> View(std::int64_t offset,
                                                std::size_t count);
  // As View(), but from an offset that may lie ahead; what is before it is
  // dropped. Empty if the stream ends before offset.
  [[nodiscard]] std::span<const std::byte> ViewAhead(std::int64_t offset,
                                                     std::size_t count);
  // Drops the bytes before offset: they must not be requested again.
  void Release(std::int64_t offset);

  [[nodiscard]] const ByteStream& stream() const { return *stream_; }
  // The offset behind all bytes that the stream has given.
  [[nodiscard]] std::int64_t end() const {
    return buffer_offset_ + static_cast<std::int64_t>(size_);
  }

 private:
  void Fill(std::size_t end);

  std::unique_ptr<ByteStream> stream_;
  std::size_t chunk_bytes_;
  std::vector<std::byte> buffer_;
  std::int64_t buffer_offset_ = 0;  // of the buffer's first byte
  std::size_t size_ = 0;            // bytes of the stream in the buffer
  std::size_t released_ = 0;        // released bytes at the front
};

}  // namespace infeed
