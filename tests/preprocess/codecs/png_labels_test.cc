#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::png_labels_test {

using Json = nlohmann::json;

constexpr std::int64_t kPixels = 99;  // of each golden: 9 x 11

// tests/data/README.recipes.md says how they were made.
Json Goldens() {
  std::ifstream file(INFEED_TEST_DATA "/label_goldens.json");
  return Json::parse(file);
}

std::string GoldenPng(const std::string& name) {
  const Json goldens = Goldens();
  for (const Json& golden : goldens["pngs"]) {
    if (golden["name"] == name) {
      return FromHex(golden["png"].get<std::string>());
    }
  }
  ADD_FAILURE() << "no golden is named " << name;
  return "";
}

std::vector<std::uint16_t> ValuesOf(const Json& golden) {
  std::vector<std::uint16_t> values;
  const std::string bytes = FromHex(golden["values"].get<std::string>());
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    values.push_back(
        static_cast<std::uint16_t>(static_cast<std::uint8_t>(bytes[i]) << 8 |
                                   static_cast<std::uint8_t>(bytes[i + 1])));
  }
  return values;
}

std::string ErrorOf(const std::string& png, std::int64_t max_pixels = kPixels) {
  return MessageOf<DataError>([&] {
    LabelImage labels;
    DecodePngLabels(AsBytes(png), max_pixels, labels);
  });
}

TEST(DecodePngLabelsTest, ValuesAreThoseStored) {
  const Json goldens = Goldens();
  ASSERT_EQ(goldens["pngs"].size(), 26U);
  LabelImage labels;
  for (const Json& golden : goldens["pngs"]) {
    SCOPED_TRACE(golden["name"]);
    const std::string png = FromHex(golden["png"].get<std::string>());
    DecodePngLabels(AsBytes(png), kPixels, labels);
    EXPECT_EQ(labels.height, golden["size"][0]);
    EXPECT_EQ(labels.width, golden["size"][1]);
    EXPECT_EQ(labels.values, ValuesOf(golden));
  }
}

TEST(DecodePngLabelsTest, MemoryIsReused) {
  LabelImage labels;
  labels.values.resize(1000);
  const std::uint16_t* const memory = labels.values.data();
  DecodePngLabels(AsBytes(GoldenPng("palette, 8 bits")), kPixels, labels);
  EXPECT_EQ(labels.values.size(), 99U);
  EXPECT_EQ(labels.values.data(), memory);
}

TEST(DecodePngLabelsTest, OtherImagesAreRefused) {
  EXPECT_EQ(ErrorOf(""), "the mask is no PNG");
  EXPECT_EQ(ErrorOf("BM and what follows in a bitmap"), "the mask is no PNG");
  const Json goldens = Goldens();
  ASSERT_EQ(goldens["colours"].size(), 2U);
  for (const Json& png : goldens["colours"]) {
    EXPECT_EQ(ErrorOf(FromHex(png.get<std::string>())),
              "the mask has colours, expected grey or a palette");
  }
  EXPECT_EQ(ErrorOf(FromHex(goldens["alpha"][0].get<std::string>())),
            "the mask has an alpha channel, expected grey or a palette");
}

TEST(DecodePngLabelsTest, PixelsAreLimitedByTheHeader) {
  std::string png = GoldenPng("grey, 8 bits");
  EXPECT_EQ(ErrorOf(png, 99), "");
  EXPECT_EQ(ErrorOf(png, 98), "a mask of 11x9 pixels is over the limit of 98");
  png.replace(16, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff");
  LabelImage labels;
  const auto decode = [&](std::int64_t max_pixels) {
    DecodePngLabels(AsBytes(png), max_pixels, labels);
  };
  EXPECT_EQ(MessageOf<DataError>([&] { decode(std::int64_t{1} << 40); }),
            "a mask of 2147483647x2147483647 pixels is over the limit of "
            "1099511627776");
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { decode(std::numeric_limits<std::int64_t>::max()); }),
              HasSubstr("libpng cannot read the mask: "));
  EXPECT_EQ(labels.values.capacity(), 0U);
}

TEST(DecodePngLabelsTest, CutFilesAreErrors) {
  for (const std::string name :
       {"grey, 16 bits", "palette, 4 bits, interlaced"}) {
    const std::string png = GoldenPng(name);
    EXPECT_EQ(ErrorOf(png.substr(0, 7)), "the mask is no PNG");
    for (std::size_t size = 8; size < 24; ++size) {
      EXPECT_EQ(ErrorOf(png.substr(0, size)),
                "the mask has no size in its header");
    }
    // The pixels end before the end chunk.
    for (std::size_t size = 24; size < png.size() - 12; ++size) {
      EXPECT_EQ(ErrorOf(png.substr(0, size)),
                "libpng cannot read the mask: it ends too early")
          << size;
    }
  }
}

// Values or a DataError, whichever bytes are damaged.
TEST(DecodePngLabelsTest, DamageIsSurvived) {
  LabelImage labels;
  for (const std::string name : {"grey, 16 bits, interlaced", "palette, 2 bits",
                                 "Pillow's L, 256 values"}) {
    const std::string png = GoldenPng(name);
    for (std::size_t place = 8; place < png.size(); ++place) {
      std::string damaged = png;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
      try {
        DecodePngLabels(AsBytes(damaged), kPixels, labels);
      } catch (const DataError& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
    DecodePngLabels(AsBytes(png), kPixels, labels);
  }
}

}  // namespace infeed::png_labels_test
