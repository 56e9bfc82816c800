#include "records/tfrecord/stream_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace infeed {

StreamBuffer::StreamBuffer(std::unique_ptr<ByteStream> stream,
                           std::size_t chunk_bytes)
    : stream_(std::move(stream)),
      chunk_bytes_(std::max<std::size_t>(chunk_bytes, 1)) {}

std::span<const std::byte> StreamBuffer::View(std::int64_t offset,
                                              std::size_t count) {
  auto begin = static_cast<std::size_t>(offset - buffer_offset_);
  Check(begin >= released_ && begin <= size_, "the window moves forward");
  if (begin + count > size_) {
    Fill(begin + count);
    begin = static_cast<std::size_t>(offset - buffer_offset_);
  }
  return std::span<const std::byte>(buffer_).subspan(
      begin, std::min(count, size_ - begin));
}

std::span<const std::byte> StreamBuffer::ViewAhead(std::int64_t offset,
                                                   std::size_t count) {
  for (;;) {
    const std::int64_t end = buffer_offset_ + static_cast<std::int64_t>(size_);
    Release(std::min(offset, end));
    if (offset <= end) {
      return View(offset, count);
    }
    const auto step = static_cast<std::size_t>(
        std::min(offset - end, static_cast<std::int64_t>(chunk_bytes_)));
    if (View(end, step).empty()) {
      return {};
    }
  }
}

void StreamBuffer::Release(std::int64_t offset) {
  released_ =
      std::max(released_, static_cast<std::size_t>(offset - buffer_offset_));
}

// Fills the buffer up to `end` bytes from its front, or to the stream's end.
void StreamBuffer::Fill(std::size_t end) {
  if (released_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + released_, size_ - released_);
  }
  buffer_offset_ += static_cast<std::int64_t>(released_);
  size_ -= released_;
  end -= std::exchange(released_, 0);
  while (size_ < end) {
    if (buffer_.size() - size_ < chunk_bytes_ && buffer_.size() < end) {
      // Grows by halves, so that a wrong large length costs nothing.
      buffer_.resize(
          std::max(size_ + chunk_bytes_, std::min(end, size_ + size_ / 2)));
    }
    const std::size_t got = stream_->Read(std::span(buffer_).subspan(size_));
    if (got == 0) {
      return;
    }
    size_ += got;
  }
}

}  // namespace infeed
