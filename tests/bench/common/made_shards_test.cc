#include "bench/common/made_shards.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(MadeShardsTest, HoldPhotographsOfTheUsualKind) {
  const MadeShards made(9);
  const RecordIndex index(FindSplit(made.folder(), "train"));
  ASSERT_EQ(index.size(), 9);
  EXPECT_EQ(index.shards().size(), 8U);
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  std::set<std::int64_t> labels;
  JpegDecoder decoder;
  for (std::int64_t i = 0; i < 9; ++i) {
    const ImagenetExampleView example =
        ParseImagenetExample(store.Read(i, buffer));
    labels.insert(example.label);
    EXPECT_GT(example.encoded.size(), 90'000U);
    EXPECT_LT(example.encoded.size(), 130'000U);
    RgbImage image;
    EXPECT_EQ(decoder.ReadHeader(example.encoded).width, 500);
    decoder.Decode(image);
    EXPECT_TRUE(decoder.was_plain());
    EXPECT_EQ(image.height(), 375);
  }
  EXPECT_EQ(labels, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(MadeShardsTest, AreTheSameEverywhereAndDiffer) {
  EXPECT_EQ(MadePhotograph(3), MadePhotograph(3));
  EXPECT_NE(MadePhotograph(3), MadePhotograph(4));
}

TEST(MadeShardsTest, LeaveNothingBehind) {
  std::string folder;
  {
    const MadeShards made(1);
    folder = made.folder();
    EXPECT_TRUE(std::filesystem::exists(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace infeed
