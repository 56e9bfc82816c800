#include "pipeline/slots/seek_index_use.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "tests/support/bytes.h"
#include "tests/support/shard_builder.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class SeekIndexUseTest : public ::testing::Test {
 protected:
  SeekIndexUseTest() {
    sample_.record = 1;
    sample_.example.encoded = AsBytes(jpeg_);
  }

  SeekIndexUse Make(SeekIndexes choice = SeekIndexes::kAuto) {
    return {choice, store_, seek_store_,
            choice == SeekIndexes::kAuto ? &found_ : nullptr};
  }

  const std::string jpeg_ = TestJpeg({.width = 90, .height = 70});
  const InputOptions options_{.preprocess = {.image_size = 16},
                              .training = false};
  const TestShards shards_{TestPayloads(2)};
  const RecordStore store_{shards_.index()};
  SeekStore seek_store_{shards_.index()};
  FoundSeekIndexes found_{shards_.index(), seek_store_, 1 << 20, kImageKey};
  std::vector<std::uint32_t> pixels_ = std::vector<std::uint32_t>(16 * 16);
  Sample sample_{options_};
};

TEST_F(SeekIndexUseTest, TheCachedIndexIsTakenUnlessADecodeFoundABetterOne) {
  const SeekIndexUse use = Make();
  const auto cached = AsBytes("cached");
  EXPECT_TRUE(use.Find(sample_).empty());
  EXPECT_EQ(AsText(use.Find(sample_, cached)), "cached");
  found_.Keep(1, {.sealed = "found", .new_rows = 1});
  EXPECT_EQ(AsText(use.Find(sample_, cached)), "found");
  EXPECT_EQ(AsText(use.Find(sample_)), "found");
  EXPECT_EQ(AsText(Make(SeekIndexes::kRead).Find(sample_, cached)), "cached");
  // An Example with an index needs no other.
  sample_.example.seek_index = AsBytes("the record's");
  EXPECT_TRUE(use.Find(sample_).empty());
}

TEST_F(SeekIndexUseTest, AFoundIndexIsUsedInTheNextDecode) {
  SeekIndexUse use = Make();
  (void)use.Decode(sample_, pixels_);
  EXPECT_EQ(use.stats().none, 1);
  EXPECT_EQ(use.stats().found, 1);
  const std::vector<std::uint32_t> without = pixels_;
  use.Open({}, use.Find(sample_), sample_);
  ASSERT_NE(sample_.seek_index.opened, std::nullopt);
  (void)use.Decode(sample_, pixels_);
  EXPECT_EQ(use.stats().used, 1);
  EXPECT_EQ(use.stats().refused, 0);
  EXPECT_EQ(pixels_, without);
}

TEST_F(SeekIndexUseTest, ACompletedIndexLeavesNoRows) {
  SeekIndexUse use = Make();
  (void)use.Decode(sample_, pixels_);
  use.Complete(sample_);
  use.Open({}, use.Find(sample_), sample_);
  (void)use.Decode(sample_, pixels_);
  EXPECT_EQ(sample_.seek_index.open_rows, 0);
}

}  // namespace
}  // namespace infeed
