#include "records/tfrecord/byte_stream.h"

#include <array>
#include <vector>

#include "records/tfrecord/format.h"
#include "records/tfrecord/inflate_stream.h"

namespace infeed {
namespace {

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

}  // namespace

std::unique_ptr<ByteStream> OpenStream(const ByteSource& source) {
  std::array<std::byte, kFrameHeaderBytes> start;
  const std::size_t got = source.ReadAt(0, start);
  const Compression compression =
      DetectCompression(std::span(start).first(got));
  auto plain = std::make_unique<PlainStream>(source);
  if (compression == Compression::kNone) {
    return plain;
  }
  return InflateStream(std::move(plain), source.path(), compression);
}

}  // namespace infeed
