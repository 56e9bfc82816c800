#include "tools/images/raw_images.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Two images of 3x2 pixels, counted through.
RawPart Part(PixelLayout layout) {
  return {.bytes = std::make_shared<MemorySource>("raw", Counting(100)),
          .layout = layout,
          .width = 3,
          .height = 2,
          .count = 2,
          .first = 5,
          .stride = 20};
}

std::string PixelsOf(const RawImages& raw, std::int64_t index) {
  RgbImage image;
  raw.Read({.path = "raw", .raw_index = index}, image);
  EXPECT_EQ(image.width(), 3);
  EXPECT_EQ(image.height(), 2);
  return Flat(image.view());
}

// Of columns: byte (c * width + x) * height + y, as a Julia array (y, x, c) has
// it.
TEST(RawImagesTest, EveryLayoutGivesRowsOfPixels) {
  for (const auto& [layout, pixels] :
       {std::pair{PixelLayout::kGray,
                  "\5\5\5\6\6\6\7\7\7\x8\x8\x8\x9\x9\x9\xa\xa\xa"},
        {PixelLayout::kPlanes,
         "\5\xb\x11\6\xc\x12\7\xd\x13\x8\xe\x14\x9\xf\x15\xa\x10\x16"},
        {PixelLayout::kColumnwisePlanes,
         "\5\xb\x11\7\xd\x13\x9\xf\x15\6\xc\x12\x8\xe\x14\xa\x10\x16"}}) {
    EXPECT_EQ(PixelsOf(RawImages({Part(layout)}), 0), pixels);
  }
}

TEST(RawImagesTest, NumbersImagesThroughAllParts) {
  RawPart second = Part(PixelLayout::kGray);
  second.first = 50;
  const RawImages raw({Part(PixelLayout::kGray), second});
  EXPECT_EQ(raw.size(), 4);
  EXPECT_EQ(PixelsOf(raw, 1).front(), 25);
  EXPECT_EQ(PixelsOf(raw, 2).front(), 50);
  EXPECT_EQ(PixelsOf(raw, 3).front(), 70);
}

TEST(RawImagesTest, NoticesAFileThatHasShrunk) {
  ImageFolder folder;
  folder.File("raw", Counting(100));
  RawPart part = Part(PixelLayout::kGray);
  part.bytes = std::make_shared<FileSource>(folder / "raw");
  const RawImages raw({part});
  std::filesystem::resize_file(folder / "raw", 28);
  EXPECT_THAT(MessageOf<IoError>([&] { (void)PixelsOf(raw, 1); }),
              HasSubstr("raw: became shorter while it was read"));
}

}  // namespace
}  // namespace infeed
