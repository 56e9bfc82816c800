#include "records/tfrecord/byte_stream.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/format.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"

namespace infeed::byte_stream_test {

class StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string& out) : out_(out) {}
  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override {
    out_.append(AsText(bytes));
  }
  void Commit() override { out_.append("|"); }
  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(out_.size());
  }

 private:
  std::string& out_;
};

std::string Pack(const std::string& text, Compression compression) {
  std::string packed;
  const auto sink =
      DeflateSink(std::make_unique<StringSink>(packed), compression);
  for (std::size_t i = 0; i < text.size(); i += 1000) {
    sink->Write(std::string_view(text).substr(i, 1000));
  }
  sink->Commit();
  EXPECT_TRUE(packed.ends_with('|')) << "the inner sink is committed";
  packed.pop_back();
  return packed;
}

std::string ReadAll(ByteStream& stream, std::size_t step) {
  std::string text;
  std::string piece(step, '\0');
  while (const std::size_t got =
             stream.Read(std::as_writable_bytes(std::span(piece)))) {
    text.append(piece, 0, got);
  }
  return text;
}

std::string Unpack(const std::string& bytes, std::size_t step = 777) {
  const MemorySource source("m", bytes);
  return ReadAll(*OpenStream(source), step);
}

// Hard to pack, so that several buffers are needed.
std::string Noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : text) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return text;
}

TEST(ByteStreamTest, PassesPlainBytesOn) {
  const MemorySource source("m", "0123456789");
  const auto stream = OpenStream(source);
  EXPECT_EQ(stream->compression(), Compression::kNone);
  EXPECT_EQ(stream->size(), 10);
  EXPECT_EQ(ReadAll(*stream, 3), "0123456789");
}

TEST(ByteStreamTest, UnpacksWhatWasPacked) {
  for (const Compression kind : {Compression::kGzip, Compression::kZlib}) {
    for (const std::string& text :
         {std::string(), std::string("hello"), Noise(1'000'000),
          std::string(3'000'000, 'a')}) {
      const std::string packed = Pack(text, kind);
      EXPECT_EQ(Unpack(packed), text);
      const MemorySource source("m", packed);
      EXPECT_EQ(OpenStream(source)->compression(), kind);
      EXPECT_EQ(OpenStream(source)->size(),
                std::numeric_limits<std::int64_t>::max());
    }
  }
}

TEST(ByteStreamTest, ReadsJoinedFiles) {
  for (const Compression kind : {Compression::kGzip, Compression::kZlib}) {
    EXPECT_EQ(Unpack(Pack("one, ", kind) + Pack("", kind) + Pack("two", kind)),
              "one, two");
  }
}

TEST(ByteStreamTest, DeliversWhatStandsBeforeTheCut) {
  const std::string text = Noise(100'000);
  const std::string packed = Pack(text, Compression::kGzip);
  const MemorySource source("m", packed.substr(0, packed.size() / 2));
  const auto stream = OpenStream(source);
  std::string seen;
  EXPECT_THAT(
      [&] {
        std::string piece(1000, '\0');
        while (const std::size_t got =
                   stream->Read(std::as_writable_bytes(std::span(piece)))) {
          seen.append(piece, 0, got);
        }
      },
      ThrowsMessage<DataError>(
          HasSubstr("the gzip stream cannot be unpacked at byte " +
                    std::to_string(packed.size() / 2) +
                    " of the file: it is cut short")));
  EXPECT_GT(seen.size(), 40'000U);
  EXPECT_TRUE(text.starts_with(seen));
}

TEST(ByteStreamTest, NamesDamageInsideAPackedStream) {
  std::string packed = Pack(Noise(100'000), Compression::kZlib);
  packed[packed.size() - 2] ^= 1;  // in the checksum
  EXPECT_THAT([&] { Unpack(packed); },
              ThrowsMessage<DataError>(HasSubstr("incorrect data check")));
  for (const Compression kind : {Compression::kGzip, Compression::kZlib}) {
    EXPECT_THAT([&] { Unpack(Pack("a", kind) + "trailing"); },
                ThrowsMessage<DataError>(
                    HasSubstr("of the file: incorrect header check; its last "
                              "6 bytes are not read")));
  }
}

TEST(CompressionTest, TellsStreamsByTheirFirstBytes) {
  EXPECT_EQ(DetectCompression(AsBytes("\x1f\x8b\x08 and so on")),
            Compression::kGzip);
  for (const std::string start :
       {"\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda", "\x08\x1d"}) {
    EXPECT_EQ(DetectCompression(AsBytes(start)), Compression::kZlib) << start;
  }
  for (const std::string start : {"", "\x1f", "\x78\x02", "hello, world"}) {
    EXPECT_EQ(DetectCompression(AsBytes(start)), Compression::kNone) << start;
  }
}

// Lengths whose bytes look like the start of a packed stream.
TEST(CompressionTest, TakesAGoodFrameHeaderForWhatItIs) {
  for (const std::uint64_t length : {0x8b1fU, 0x9c78U, 0x0178U, 0x5e78U}) {
    EXPECT_EQ(DetectCompression(EncodeFrameHeader(length)), Compression::kNone)
        << length;
  }
}

}  // namespace infeed::byte_stream_test
