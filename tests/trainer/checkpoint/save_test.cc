#include "trainer/checkpoint/save.h"

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Both ways of writing.
class CheckpointWriterTest : public testing::TestWithParam<bool> {
 protected:
  CheckpointWriter Writer(const std::string& model_dir) {
    return {model_dir, GetParam(),
            [this](std::int64_t step, const std::string&) {
              written_.push_back(step);
            }};
  }

  TemporaryFolder folder_;
  std::vector<std::int64_t> written_;
};

TEST_P(CheckpointWriterTest, TellsWhatIsOnTheDisk) {
  CheckpointWriter writer = Writer(folder_.path());
  writer.Save(MadeCheckpoint(1), {});
  EXPECT_THAT(written_, GetParam()
                            ? testing::Matcher<std::vector<long>>(IsEmpty())
                            : ElementsAre(1));
  writer.Save(MadeCheckpoint(2), {});
  writer.Finish();
  writer.Finish();
  EXPECT_THAT(written_, ElementsAre(1, 2));
  EXPECT_EQ(LoadCheckpoint(folder_.path(), 2).state.model,
            MadeCheckpoint(2).state.model);
}

TEST_P(CheckpointWriterTest, FinishesWhatItBeganWhenItGoes) {
  { Writer(folder_.path()).Save(MadeCheckpoint(1), {}); }
  EXPECT_THAT(ListCheckpoints(folder_.path()), ElementsAre(1));
}

TEST_P(CheckpointWriterTest, KeepsWhatItIsToldTo) {
  CheckpointWriter writer = Writer(folder_.path());
  for (const std::int64_t step : {1, 2, 3}) {
    writer.Save(MadeCheckpoint(step), {.last = 1, .best = 1});
  }
  writer.Finish();
  EXPECT_THAT(ListCheckpoints(folder_.path()), ElementsAre(1, 3));
}

TEST_P(CheckpointWriterTest, LaterOnesStayUnlessTheyAreToGo) {
  CheckpointWriter writer = Writer(folder_.path());
  for (const std::int64_t step : {10, 20, 11}) {
    writer.Save(MadeCheckpoint(step), {.last = 1});
  }
  writer.Finish();
  EXPECT_THAT(ListCheckpoints(folder_.path()), ElementsAre(11, 20));
  writer.Save(MadeCheckpoint(12), {.last = 2, .drops_later = true});
  writer.Finish();
  EXPECT_THAT(ListCheckpoints(folder_.path()), ElementsAre(11, 12));
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointWriterTest, testing::Bool());

class FailingWriterTest : public CheckpointWriterTest {
 protected:
  FailingWriterTest() { std::ofstream(folder_ / "file") << "in the way"; }
  const std::string blocked_ = folder_ / "file" + "/model";
};

TEST_P(FailingWriterTest, LetsTheErrorOutWithTheNextCall) {
  CheckpointWriter writer = Writer(blocked_);
  const auto save = [&] { writer.Save(MadeCheckpoint(1), {}); };
  const auto finish = [&] { writer.Finish(); };
  if (GetParam()) {
    EXPECT_EQ(MessageOf<IoError>(save), "");
    EXPECT_THAT(MessageOf<IoError>(finish), HasSubstr("cannot create"));
    EXPECT_EQ(MessageOf<IoError>(save), "");
  }
  EXPECT_THAT(MessageOf<IoError>(save), HasSubstr("cannot create"));
  EXPECT_EQ(MessageOf<IoError>(finish), "");  // The error is thrown once.
  EXPECT_THAT(written_, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, FailingWriterTest, testing::Bool());

}  // namespace
}  // namespace infeed
