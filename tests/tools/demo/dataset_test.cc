#include "tools/demo/dataset.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/jpeg/jpeg.h"
#include "tests/support/files_in.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tools/demo/shapes.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxBytes = 1 << 20;

std::map<std::string, std::string> Make(const DemoDatasetOptions& options) {
  const TemporaryFolder folder;
  WriteDemoDataset(folder.path(), options);
  return FilesBelow(folder.path());
}

TEST(DemoDatasetTest, SpreadsImagesOverTheClasses) {
  const auto files = Make({.train_images = 25, .validation_images = 10});
  EXPECT_EQ(files.size(), 35U);
  std::map<std::string, int> counts;
  for (const auto& [path, bytes] : files) {
    ++counts[std::filesystem::path(path).parent_path().string()];
  }
  EXPECT_EQ(counts["train/checker"], 3);
  EXPECT_EQ(counts["train/zigzag"], 2);
  EXPECT_EQ(counts["validation/zigzag"], 1);
}

TEST(DemoDatasetTest, GivesTheSameBytesForAnyNumberOfThreads) {
  EXPECT_EQ(Make({.train_images = 30, .validation_images = 10, .threads = 1}),
            Make({.train_images = 30, .validation_images = 10, .threads = 8}));
}

TEST(DemoDatasetTest, GivesOtherImagesForAnotherSeed) {
  EXPECT_NE(MakeDemoImage(0, {.seed = 1}).bytes,
            MakeDemoImage(0, {.seed = 2}).bytes);
}

TEST(DemoDatasetTest, ValidatesOnOtherImagesThanItTrainsOn) {
  const auto files = Make({.train_images = 10, .validation_images = 10});
  for (int i = 0; i < kDemoClasses; ++i) {
    const std::string name(DemoClassName(i));
    EXPECT_NE(files.lower_bound("train/" + name)->second,
              files.lower_bound("validation/" + name)->second);
  }
}

TEST(DemoDatasetTest, MakesImagesOfSeveralKindsThatDecode) {
  std::map<std::string, int> kinds;
  JpegDecoder decoder;
  RgbImage image;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const DemoImageFile file =
        MakeDemoImage(static_cast<int>(i % 10), {.seed = 3, .position = i});
    const auto bytes = std::as_bytes(std::span(file.bytes));
    if (file.extension == "png") {
      DecodeOtherImage(bytes, kMaxBytes, image);
      ++kinds["png"];
    } else {
      ++kinds[decoder.ReadHeader(bytes).progressive ? "progressive"
                                                    : "baseline"];
      decoder.Decode(image);
    }
    EXPECT_GE(image.width(), 72);
  }
  EXPECT_GT(kinds["baseline"], 120);
  EXPECT_GT(kinds["progressive"], 0);
  EXPECT_GT(kinds["png"], 0);
}

TEST(DemoDatasetTest, NamesAFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "file", "");
  EXPECT_THAT(MessageOf<IoError>([&] {
                WriteDemoDataset(folder / "file", {.train_images = 1});
              }),
              HasSubstr("cannot create: Not a directory"));
}

}  // namespace
}  // namespace infeed
