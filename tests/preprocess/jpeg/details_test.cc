#include "preprocess/jpeg/details.h"

#include <string>
#include <tuple>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::details_test {

JpegDetails DetailsOf(const TestJpegOptions& options) {
  return ReadJpegDetails(AsBytes(TestJpeg(options)));
}

// The JPEG with a segment behind its first marker.
std::string WithSegment(std::string jpeg, char code, const std::string& data) {
  std::string segment = {'\xFF', code, '\0',
                         static_cast<char>(data.size() + 2)};
  return jpeg.insert(2, segment + data);
}

TEST(JpegDetailsTest, ReadsHeadersOfEachKind) {
  const JpegDetails details = DetailsOf({.width = 31, .height = 17});
  EXPECT_EQ(details.width, 31);
  EXPECT_EQ(details.height, 17);
  EXPECT_EQ(details.components, 3);
  EXPECT_FALSE(details.progressive);
  EXPECT_FALSE(details.arithmetic);
  EXPECT_FALSE(details.has_exif);
  EXPECT_EQ(details.restart_interval, 0);
  EXPECT_EQ(details.adobe_transform, -1);
  EXPECT_TRUE(DetailsOf({.progressive = true}).progressive);
  EXPECT_TRUE(DetailsOf({.arithmetic = true}).arithmetic);
  EXPECT_EQ(DetailsOf({.restart_interval = 4}).restart_interval, 4);
  EXPECT_EQ(DetailsOf({.color = TestColor::kGray}).components, 1);
  EXPECT_EQ(DetailsOf({.color = TestColor::kCmyk}).adobe_transform, -1);
  EXPECT_EQ(DetailsOf({.color = TestColor::kAdobeCmyk}).adobe_transform, 0);
  EXPECT_EQ(DetailsOf({.color = TestColor::kAdobeYcck}).adobe_transform, 2);
  // A warning of libjpeg is ignored.
  const std::string jpeg = TestJpeg({.width = 33});
  EXPECT_EQ(
      ReadJpegDetails(AsBytes(jpeg.substr(0, 2) + "x" + jpeg.substr(2))).width,
      33);
}

TEST(JpegDetailsTest, KnowsTheQualityOfStandardTables) {
  for (const int quality : {1, 10, 49, 50, 75, 90, 96, 100}) {
    const JpegDetails details = DetailsOf({.quality = quality});
    EXPECT_EQ(details.quality, quality);
    EXPECT_TRUE(details.standard_table);
  }
}

TEST(JpegDetailsTest, EstimatesTheQualityOfOtherTables) {
  std::string jpeg = TestJpeg({.quality = 80});
  const std::size_t table = jpeg.find("\xFF\xDB");
  ++jpeg[table + 5];  // The first value of the first table.
  const JpegDetails details = ReadJpegDetails(AsBytes(jpeg));
  EXPECT_EQ(details.quality, 80);
  EXPECT_FALSE(details.standard_table);
}

TEST(JpegDetailsTest, NamesTheSampling) {
  const auto name = [](const TestJpegOptions& options) {
    return SamplingName(DetailsOf(options));
  };
  EXPECT_EQ(name({.subsampling = Subsampling::k444}), "4:4:4");
  EXPECT_EQ(name({.subsampling = Subsampling::k422}), "4:2:2");
  EXPECT_EQ(name({.subsampling = Subsampling::k420}), "4:2:0");
  EXPECT_EQ(name({.subsampling = Subsampling::k440}), "4:4:0");
  EXPECT_EQ(name({.subsampling = Subsampling::k411}), "4:1:1");
  EXPECT_EQ(name({.color = TestColor::kGray}), "gray");
  EXPECT_EQ(name({.color = TestColor::kAdobeCmyk}), "1x1,1x1,1x1,1x1");
}

TEST(JpegDetailsTest, FindsExif) {
  using std::string_literals::operator""s;
  const std::string jpeg = TestJpeg({});
  EXPECT_TRUE(ReadJpegDetails(AsBytes(WithSegment(jpeg, '\xE1', "Exif\0\0MM"s)))
                  .has_exif);
  EXPECT_FALSE(
      ReadJpegDetails(AsBytes(WithSegment(jpeg, '\xE1', "http://other"s)))
          .has_exif);
}

TEST(JpegDetailsTest, RefusesWhatIsNoJpeg) {
  EXPECT_THAT(MessageOf<DataError>(
                  [] { std::ignore = ReadJpegDetails(AsBytes("no JPEG")); }),
              HasSubstr("Not a JPEG file"));
  const std::string cut = TestJpeg({}).substr(0, 40);
  EXPECT_NE(MessageOf<DataError>(
                [&] { std::ignore = ReadJpegDetails(AsBytes(cut)); }),
            "");
}

}  // namespace infeed::details_test
