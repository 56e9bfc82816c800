#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "records/tfrecord/byte_stream.h"

namespace infeed {

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
