#include "preprocess/codecs/webp_codec.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "tests/support/test_jpeg.h"

namespace infeed::webp_codec_test {

constexpr int kLossless = 101;  // OpenCV's: a quality above 100

cv::Mat Noise(int width, int height, int type) {
  cv::Mat image(height, width, type);
  cv::theRNG().state = 1;
  cv::randu(image, 0, 256);
  return image;
}

// Smooth, so that chroma is interpolated between unequal samples.
cv::Mat Slopes(int width, int height) {
  cv::Mat image(height, width, CV_8UC4);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at<cv::Vec4b>(y, x) =
          cv::Vec4b(cv::saturate_cast<std::uint8_t>(7 * x),
                    cv::saturate_cast<std::uint8_t>(255 - 5 * y),
                    static_cast<std::uint8_t>(11 * (x + y)),
                    static_cast<std::uint8_t>(13 * (x - y)));
    }
  }
  return image;
}

std::string Webp(const cv::Mat& image, int quality) {
  std::vector<std::uint8_t> bytes;
  EXPECT_TRUE(
      cv::imencode(".webp", image, bytes, {cv::IMWRITE_WEBP_QUALITY, quality}));
  return {bytes.begin(), bytes.end()};
}

// The pixels that OpenCV reads, as R G B; nullopt if it reads none.
std::optional<std::string> Twin(const std::string& webp) {
  const cv::Mat encoded(1, static_cast<int>(webp.size()), CV_8U,
                        const_cast<char*>(webp.data()));
  cv::Mat image;
  try {
    image =
        cv::imdecode(encoded, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception&) {
    return std::nullopt;  // a limit of OpenCV's own
  }
  if (image.empty()) {
    return std::nullopt;
  }
  std::string pixels;
  for (auto pixel = image.begin<cv::Vec3b>(); pixel != image.end<cv::Vec3b>();
       ++pixel) {
    for (const int channel : {2, 1, 0}) {
      pixels += static_cast<char>((*pixel)[channel]);
    }
  }
  return pixels;
}

std::string ErrorOf(const std::string& webp) {
  RgbImage image;
  try {
    DecodeOtherImage(AsBytes(webp), 1 << 20, image);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

std::optional<std::string> Decoded(const std::string& webp) {
  RgbImage image;
  try {
    DecodeOtherImage(AsBytes(webp), 1 << 20, image);
  } catch (const DataError&) {
    return std::nullopt;
  }
  return Flat(image.view());
}

std::string Chunk(const std::string& type, const std::string& content) {
  std::string bytes = type;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(content.size() >> shift);
  }
  return bytes + content + std::string(content.size() % 2, '\0');
}

// An animation of one frame, the image of a plain file.
std::string Animation(const std::string& webp, int width, int height) {
  const auto w = static_cast<char>(width - 1);
  const auto h = static_cast<char>(height - 1);
  const std::string canvas = {2, 0, 0, 0, w, 0, 0, h, 0, 0};
  const std::string place = {0, 0, 0, 0, 0, 0, w, 0, 0, h, 0, 0, 100, 0, 0, 0};
  return Chunk("RIFF", "WEBP" + Chunk("VP8X", canvas) +
                           Chunk("ANIM", std::string(6, '\0')) +
                           Chunk("ANMF", place + webp.substr(12)));
}

TEST(WebpCodecTest, HasOpencvsPixels) {
  for (const int quality : {1, 50, 90, 100, kLossless}) {
    for (const int type : {CV_8UC3, CV_8UC4}) {
      for (const int side : {1, 2, 3, 17, 64}) {
        const std::string webp = Webp(Noise(side, 2 * side + 1, type), quality);
        ASSERT_TRUE(Twin(webp));
        EXPECT_EQ(Decoded(webp), Twin(webp)) << quality << " " << side;
      }
    }
    const std::string webp = Webp(Slopes(51, 38), quality);
    EXPECT_EQ(Decoded(webp), Twin(webp)) << quality;
  }
}

TEST(WebpCodecTest, KeepsThePixelsUnderAlpha) {
  cv::Mat image(2, 2, CV_8UC4, cv::Scalar(10, 20, 30, 128));
  EXPECT_EQ(Decoded(Webp(image, kLossless)),
            "\x1e\x14\x0a\x1e\x14\x0a\x1e\x14\x0a\x1e\x14\x0a");
}

TEST(WebpCodecTest, RefusesWhatOpencvRefuses) {
  for (const int quality : {80, kLossless}) {
    const std::string webp = Webp(Slopes(21, 18), quality);
    for (std::size_t place = 12; place < webp.size(); ++place) {
      std::string damaged = webp;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
      EXPECT_EQ(Decoded(damaged), Twin(damaged)) << quality << " " << place;
    }
  }
}

TEST(WebpCodecTest, NamesWhatIsWrong) {
  const std::string webp = Webp(Noise(30, 20, CV_8UC3), 90);
  EXPECT_EQ(ErrorOf(webp.substr(0, webp.size() / 2)),
            "libwebp cannot read the image: it ends too early");
  std::string damaged = webp;
  damaged[23] = 'x';  // of the start code
  EXPECT_EQ(ErrorOf(damaged), "libwebp cannot read the image: it is damaged");
  // The canvas may claim less than the frame has.
  std::string small = Webp(Slopes(40, 30), 90);
  ASSERT_EQ(small.substr(12, 4), "VP8X");
  small[24] = 3;
  EXPECT_EQ(ErrorOf(small), "libwebp cannot read the image: it is damaged");
  const std::string animation =
      Animation(Webp(Noise(30, 20, CV_8UC3), kLossless), 30, 20);
  EXPECT_EQ(ErrorOf(animation),
            "libwebp cannot read the image: it is an animation");
  EXPECT_FALSE(Twin(animation));
}

TEST(WebpCodecTest, RefusesASizeOverTheLimit) {
  RgbImage image;
  const std::string webp = Webp(Noise(30, 20, CV_8UC3), 90);
  EXPECT_THROW(DecodeOtherImage(AsBytes(webp), 30 * 20 - 1, image), DataError);
  DecodeOtherImage(AsBytes(webp), 30 * 20, image);
}

}  // namespace infeed::webp_codec_test
