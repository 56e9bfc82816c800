// Streams that are left and gone on with by their state.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_state_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

class InputPipelineStateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shards_ = std::make_unique<TestShards>(TestPayloads(22));
    shards_->Damage(3);
  }
  static void TearDownTestSuite() { shards_.reset(); }
  static const RecordIndex& index() { return shards_->index(); }

  InputOptions options_{
      .batch_size = 4, .image_size = 16, .seed = 7, .threads = 3};

 private:
  static std::unique_ptr<TestShards> shards_;
};

std::unique_ptr<TestShards> InputPipelineStateTest::shards_;

TEST_F(InputPipelineStateTest, GoesOnWithTheStreamAfterAnyBatch) {
  const std::vector<BatchCopy> whole = Stream(index(), options_, 12);
  InputPipeline pipeline(index(), options_);
  InputOptions other = options_;
  for (int taken = 0; taken < 11; ++taken) {
    other.threads = 1 + taken % 4;
    const StreamPosition start =
        ResumePosition(pipeline.State(), index(), other);
    EXPECT_EQ(Stream(index(), other, 2, start),
              std::vector(whole.begin() + taken, whole.begin() + taken + 2))
        << "after batch " << taken;
    ASSERT_NE(pipeline.Next(), nullptr);
  }
}

TEST_F(InputPipelineStateTest, EndsWhereTheUninterruptedStreamEnds) {
  InputOptions twice = options_;
  twice.repeat = 2;
  const StreamPosition begin = {.epoch = 5};
  const std::vector<BatchCopy> whole = Stream(index(), twice, 99, begin);
  ASSERT_EQ(whole.size(), 10U);  // of epochs 5 and 6
  EXPECT_EQ(whole.back().next, (StreamPosition{6, 20, 1}));
  InputPipeline pipeline(index(), twice, begin);
  for (int taken = 0; taken <= 10; ++taken) {
    EXPECT_EQ(Stream(index(), twice, 99,
                     ResumePosition(pipeline.State(), index(), twice)),
              std::vector(whole.begin() + taken, whole.end()))
        << "after batch " << taken;
    EXPECT_EQ(pipeline.Next() == nullptr, taken == 10);
  }
}

TEST_F(InputPipelineStateTest, IsThatOfTheBatchesTakenNotOfThoseReady) {
  InputPipeline pipeline(index(), options_);
  ASSERT_NE(pipeline.Next(), nullptr);
  EXPECT_THAT(pipeline.State(),
              AllOf(HasSubstr("\"epoch\": 0"), HasSubstr("\"position\": 4"),
                    HasSubstr("\"seed\": 7")));
}

TEST_F(InputPipelineStateTest, IsOneForAllRanks) {
  InputPipeline one(index(), options_);
  ASSERT_NE(one.Next(), nullptr);
  InputOptions half = options_;
  half.world_size = 2;
  half.rank = 1;
  InputPipeline other(index(), half);
  ASSERT_NE(other.Next(), nullptr);
  EXPECT_EQ(one.State(), other.State());
}

TEST_F(InputPipelineStateTest, SaysWhatTheModeResolves) {
  InputOptions spelled = options_;
  spelled.last_batch = LastBatch::kDrop;
  EXPECT_EQ(InputPipeline(index(), options_).State(),
            InputPipeline(index(), spelled).State());
}

TEST_F(InputPipelineStateTest, IsRefusedByAnotherStream) {
  const std::string state = InputPipeline(index(), options_).State();
  InputOptions other = options_;
  other.image_size = 8;
  EXPECT_EQ(MessageOf<UsageError>(
                [&] { (void)ResumePosition(state, index(), other); }),
            "the state is another stream's: image_size is 8 here, 16 in the "
            "state");
}

}  // namespace input_pipeline_state_test
}  // namespace infeed
