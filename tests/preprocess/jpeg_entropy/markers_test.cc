#include "preprocess/jpeg_entropy/markers.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_jpeg.h"

namespace infeed {
namespace markers_test {

using std::string_literals::operator""s;

const std::string kStart = "\xff\xd8";
const std::string kTable = "\xff\xdb\0\3q"s;
const std::string kComment = "\xff\xfe\0\2"s;

// The codes of the markers.
std::vector<int> CodesOf(const std::string& jpeg) {
  JpegHeader header(AsBytes(jpeg));
  std::vector<int> codes;
  while (const auto marker = header.Next()) {
    codes.push_back(marker->code);
  }
  return codes;
}

TEST(JpegHeaderTest, ReadsSegmentsInOrder) {
  const std::string jpeg = kStart + kTable + kComment + "rest";
  JpegHeader header(AsBytes(jpeg));
  const auto table = header.Next();
  ASSERT_TRUE(table);
  EXPECT_EQ(table->code, 0xdb);
  ASSERT_EQ(table->data.size(), 1U);
  EXPECT_EQ(table->data[0], std::byte{'q'});
  const auto comment = header.Next();
  ASSERT_TRUE(comment);
  EXPECT_EQ(comment->code, 0xfe);
  EXPECT_TRUE(comment->data.empty());
  EXPECT_EQ(header.position(), jpeg.size() - 4);
  EXPECT_FALSE(header.Next());
}

// As libjpeg does, with a warning.
TEST(JpegHeaderTest, SkipsBytesThatAreNoMarker) {
  for (const std::string& bytes :
       {"x"s, "abcdef"s, "\0"s, "\xff"s, "\xff\xff\xff"s, "\xff\0"s,
        "\xff\xff\0"s, "\xff\0\xff\0x"s}) {
    EXPECT_EQ(CodesOf(kStart + bytes + kTable + bytes + kComment),
              (std::vector<int>{0xdb, 0xfe}));
  }
}

TEST(JpegHeaderTest, EndsWhereThereIsNoWholeSegment) {
  EXPECT_TRUE(CodesOf("").empty());
  EXPECT_TRUE(CodesOf("\xff").empty());
  EXPECT_TRUE(CodesOf("no" + kTable).empty());
  EXPECT_TRUE(CodesOf(kStart + "\xff\xfe\0\1"s + kComment).empty());
  const std::string jpeg = kStart + kTable;
  for (std::size_t size = 0; size < jpeg.size(); ++size) {
    EXPECT_TRUE(CodesOf(jpeg.substr(0, size)).empty()) << size;
  }
  for (const int code : {0x01, 0xd0, 0xd7, 0xd8, 0xd9}) {
    const std::string alone = "\xff"s + static_cast<char>(code);
    EXPECT_TRUE(CodesOf(kStart + alone + kComment + kComment).empty()) << code;
  }
}

}  // namespace markers_test
}  // namespace infeed
