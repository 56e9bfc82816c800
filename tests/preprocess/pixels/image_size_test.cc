#include "preprocess/pixels/image_size.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(ImageSizeTest, IsTextThatReadsBack) {
  EXPECT_EQ(SizeText(224), "224");
  EXPECT_EQ(SizeText({224, 320}), "224x320");
  for (const ImageSize size :
       {ImageSize(1), ImageSize(224), ImageSize(320, 224)}) {
    EXPECT_EQ(ParseImageSize(SizeText(size)), size);
  }
  EXPECT_EQ(ParseImageSize("96x96"), ImageSize(96));
}

TEST(ImageSizeTest, RefusesOtherText) {
  for (const char* const text :
       {"", "x", "0", "224x", "x224", "224x0", "0x20", "-224", "+224", "22.4",
        "224 x 320", "224X320", "0224", "224x320x3", "1073741825",
        "99999999999", "224x0320"}) {
    EXPECT_EQ(ParseImageSize(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace infeed
