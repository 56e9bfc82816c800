#include "records/tfrecord/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/tfrecord/index_file.h"

namespace infeed {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxZlibStep = std::size_t{1} << 30;  // uInt
constexpr int kZlibWindowBits = 15;
constexpr int kGzipWindowBits = kZlibWindowBits + 16;
constexpr int kMemoryLevel = 9;

// How far ahead WillRead() is called.
constexpr std::int64_t kAheadBytes = std::int64_t{8} << 20;

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(const ByteSource& source) : source_(source) {}

  std::size_t Read(std::span<std::byte> destination) override {
    AnnounceReads(static_cast<std::int64_t>(destination.size()));
    const std::size_t got = source_.ReadAt(offset_, destination);
    offset_ += static_cast<std::int64_t>(got);
    return got;
  }
  [[nodiscard]] std::int64_t size() const override { return source_.size(); }
  [[nodiscard]] Compression compression() const override {
    return Compression::kNone;
  }

 private:
  // One hint for many reads.
  void AnnounceReads(std::int64_t bytes) {
    if (offset_ + bytes > announced_ - kAheadBytes / 2 && announced_ < size()) {
      source_.WillRead(announced_, kAheadBytes);
      announced_ += kAheadBytes;
    }
  }

  const ByteSource& source_;
  std::int64_t offset_ = 0;
  std::int64_t announced_ = 0;  // end of the range passed to WillRead()
};

// Unpacks gzip or zlib streams that are joined end to end. Bytes before damage
// are delivered; then Read() throws DataError, without an origin, with the
// place in the packed bytes. `name` is for messages.
class Inflater final : public ByteStream {
 public:
  Inflater(std::unique_ptr<ByteStream> packed, std::string name,
           Compression compression)
      : packed_(std::move(packed)),
        name_(std::move(name)),
        compression_(compression),
        buffer_(kPackedBytes) {
    const int bits =
        compression == Compression::kGzip ? kGzipWindowBits : kZlibWindowBits;
    if (::inflateInit2(&state_, bits) != Z_OK) {
      throw IoError(name_ + ": cannot unpack: out of memory");
    }
  }
  ~Inflater() override { ::inflateEnd(&state_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t Read(std::span<std::byte> destination) override {
    state_.next_out = reinterpret_cast<Bytef*>(destination.data());
    const auto wanted =
        static_cast<uInt>(std::min(destination.size(), kMaxZlibStep));
    state_.avail_out = wanted;
    while (state_.avail_out > 0 && !ended_ && error_.empty()) {
      Step();
    }
    const std::size_t got = wanted - state_.avail_out;
    if (got == 0 && !error_.empty()) {
      throw DataError(error_);
    }
    return got;
  }

  [[nodiscard]] std::int64_t size() const override {
    return std::numeric_limits<std::int64_t>::max();
  }
  [[nodiscard]] Compression compression() const override {
    return compression_;
  }

 private:
  void Step() {
    if (state_.avail_in == 0) {
      Refill();
    }
    if (member_ended_) {
      BeginMember();
      return;
    }
    const int result = ::inflate(&state_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      member_ended_ = true;
    } else if (result == Z_BUF_ERROR) {  // Nor has zlib kept bytes to give.
      Fail("it is cut short");
    } else if (result != Z_OK) {
      Fail(state_.msg != nullptr ? state_.msg : "it is damaged");
    }
  }

  void Refill() {
    const std::size_t got = packed_->Read(buffer_);
    packed_offset_ += static_cast<std::int64_t>(got);
    state_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    state_.avail_in = static_cast<uInt>(got);
  }

  void BeginMember() {
    if (state_.avail_in == 0) {
      ended_ = true;
    } else {
      member_ended_ = false;
      if (::inflateReset(&state_) != Z_OK) {
        Fail("it is damaged");
      }
    }
  }

  void Fail(std::string_view why) {
    const std::int64_t offset = packed_offset_ - state_.avail_in;
    const std::int64_t left = packed_->size() - offset;
    error_ = "the ";
    error_.append(CompressionName(compression_))
        .append(" stream cannot be unpacked at byte ")
        .append(std::to_string(offset))
        .append(" of the file: ")
        .append(why);
    if (left > 0) {
      error_.append("; its last ")
          .append(CountText(left, "byte"))
          .append(" are not read");
    }
  }

  std::unique_ptr<ByteStream> packed_;
  std::string name_;
  Compression compression_;
  std::vector<std::byte> buffer_;
  std::int64_t packed_offset_ = 0;  // of the buffer's end
  z_stream state_{};
  bool member_ended_ = false;
  bool ended_ = false;
  std::string error_;
};

class Deflater final : public ByteSink {
 public:
  Deflater(std::unique_ptr<ByteSink> packed, Compression compression)
      : packed_(std::move(packed)), buffer_(kPackedBytes) {
    const int bits =
        compression == Compression::kGzip ? kGzipWindowBits : kZlibWindowBits;
    const int result =
        ::deflateInit2(&state_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits,
                       kMemoryLevel, Z_DEFAULT_STRATEGY);
    if (result != Z_OK) {
      throw IoError("cannot pack: out of memory");
    }
  }
  ~Deflater() override { ::deflateEnd(&state_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto step = bytes.first(std::min(bytes.size(), kMaxZlibStep));
      // zlib does not write to its input.
      state_.next_in = reinterpret_cast<Bytef*>(
          const_cast<std::byte*>(step.data()));  // NOLINT(*-const-cast)
      state_.avail_in = static_cast<uInt>(step.size());
      while (state_.avail_in > 0) {
        (void)Step(Z_NO_FLUSH);
      }
      bytes = bytes.subspan(step.size());
    }
  }

  void Commit() override {
    while (Step(Z_FINISH) != Z_STREAM_END) {
    }
    packed_->Commit();
  }

  [[nodiscard]] std::int64_t size() const override { return packed_->size(); }

 private:
  int Step(int flush) {
    state_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    state_.avail_out = static_cast<uInt>(buffer_.size());
    const int result = ::deflate(&state_, flush);
    Check(result != Z_STREAM_ERROR, "the state is sound");
    packed_->Write(std::span(buffer_).first(buffer_.size() - state_.avail_out));
    return result;
  }

  std::unique_ptr<ByteSink> packed_;
  std::vector<std::byte> buffer_;
  z_stream state_{};
};

}  // namespace

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
    Release(std::min(offset, end()));
    if (offset <= end()) {
      return View(offset, count);
    }
    const auto step = static_cast<std::size_t>(
        std::min(offset - end(), static_cast<std::int64_t>(chunk_bytes_)));
    if (View(end(), step).empty()) {
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

std::unique_ptr<ByteStream> OpenStream(const ByteSource& source) {
  const Compression compression = ReadCompression(source);
  auto plain = std::make_unique<PlainStream>(source);
  if (compression == Compression::kNone) {
    return plain;
  }
  return std::make_unique<Inflater>(std::move(plain), source.path(),
                                    compression);
}

std::unique_ptr<ByteSink> DeflateSink(std::unique_ptr<ByteSink> packed,
                                      Compression compression) {
  Check(compression != Compression::kNone, "there is something to pack");
  return std::make_unique<Deflater>(std::move(packed), compression);
}

}  // namespace infeed
