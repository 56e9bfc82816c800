#include "preprocess/codecs/tiff_directory.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_jpeg.h"

namespace infeed {
namespace tiff_directory_test {

using std::string_literals::operator""s;
using Values = std::vector<std::int64_t>;

std::string Number(std::int64_t value, int bytes, bool big_endian) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    const int place = big_endian ? bytes - 1 - i : i;
    text.push_back(static_cast<char>(value >> (8 * place)));
  }
  return text;
}

// A directory with one entry, whose values are in place or behind it.
std::string Tiff(int tag, int type, int bytes, const Values& values,
                 bool big_endian) {
  constexpr int kBehind = 8 + 2 + 12;
  std::string data;
  for (const std::int64_t value : values) {
    data += Number(value, bytes, big_endian);
  }
  const bool in_place = data.size() <= 4;
  std::string entry = Number(tag, 2, big_endian) + Number(type, 2, big_endian) +
                      Number(std::ssize(values), 4, big_endian);
  entry += in_place ? data + std::string(4 - data.size(), '\0')
                    : Number(kBehind, 4, big_endian);
  return (big_endian ? "MM\0*"s : "II*\0"s) + Number(8, 4, big_endian) +
         Number(1, 2, big_endian) + entry + (in_place ? "" : data);
}

TEST(TiffDirectoryTest, ReadsEveryIntegerType) {
  for (const auto& [type, bytes] :
       {std::pair(1, 1), std::pair(3, 2), std::pair(4, 4), std::pair(6, 1),
        std::pair(8, 2), std::pair(9, 4), std::pair(13, 4), std::pair(16, 8),
        std::pair(17, 8)}) {
    for (const bool big_endian : {false, true}) {
      for (const Values& values : {Values{7}, {1, 2, 3}, {1, 2, 3, 4, 5}}) {
        const std::string tiff = Tiff(300, type, bytes, values, big_endian);
        EXPECT_EQ(TiffDirectory(AsBytes(tiff)).Integers(300), values)
            << "type " << type;
        EXPECT_TRUE(TiffDirectory(AsBytes(tiff)).Integers(301).empty());
      }
    }
  }
}

TEST(TiffDirectoryTest, LeavesOtherTypes) {
  for (const int type : {0, 2, 5, 7, 11, 99}) {
    const std::string tiff = Tiff(300, type, 1, {7}, false);
    EXPECT_TRUE(TiffDirectory(AsBytes(tiff)).Integers(300).empty()) << type;
  }
}

TEST(TiffDirectoryTest, ReadsNothingBeyondTheEnd) {
  const std::string tiff = Tiff(300, 4, 4, {1, 2, 3}, true);
  for (std::size_t size = 0; size < tiff.size(); ++size) {
    EXPECT_LT(TiffDirectory(AsBytes(tiff.substr(0, size))).Integers(300).size(),
              3U);
  }
  std::string many = Tiff(300, 1, 1, Values(100, 5), false);
  EXPECT_EQ(TiffDirectory(AsBytes(many)).Integers(300), Values(16, 5));
  for (std::size_t place = 14; place < 18; ++place) {
    many[place] = '\xff';
  }
  EXPECT_EQ(TiffDirectory(AsBytes(many)).Integers(300), Values(16, 5));
}

}  // namespace tiff_directory_test
}  // namespace infeed
