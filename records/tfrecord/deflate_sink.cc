#include "records/tfrecord/deflate_sink.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/tfrecord/zlib_limits.h"

namespace infeed {
namespace {

constexpr int kMemoryLevel = 9;

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

std::unique_ptr<ByteSink> DeflateSink(std::unique_ptr<ByteSink> packed,
                                      Compression compression) {
  Check(compression != Compression::kNone, "there is something to pack");
  return std::make_unique<Deflater>(std::move(packed), compression);
}

}  // namespace infeed
