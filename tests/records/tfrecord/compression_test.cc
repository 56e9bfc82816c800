#include "records/tfrecord/compression.h"

#include <string>

#include "records/tfrecord/format.h"
#include "tests/support/bytes.h"
#include "tests/support/record_file.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

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

TEST(CompressionTest, NamesEachKind) {
  EXPECT_EQ(CompressionName(Compression::kNone), "none");
  EXPECT_EQ(CompressionName(Compression::kGzip), "gzip");
  EXPECT_EQ(CompressionName(Compression::kZlib), "zlib");
}

}  // namespace
}  // namespace infeed
