#include "trainer/remote/checkpoints.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/remote_files.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RemoteCheckpointsTest : public RemoteFiles {
 protected:
  void Push(std::int64_t step) {
    checkpoints_.Push(step, Save(step, disk_ / "made"));
  }

  RemoteCheckpoints checkpoints_{RemoteFolder(kUrl, runtime_)};
};

TEST_F(RemoteCheckpointsTest, ComeBackAsTheyWere) {
  Push(7);
  checkpoints_.Pull(7, disk_ / "here");
  EXPECT_EQ(LoadCheckpoint(disk_ / "here", 7).stream.position, 7 * 64);
  EXPECT_TRUE(checkpoints_.IsDownloaded(7, disk_ / "here"));
}

TEST_F(RemoteCheckpointsTest, AreThoseWithAManifest) {
  Push(7);
  Push(12);
  server_.Put(PlaceOf(NameIn(13, kModelFile)), "begun");
  server_.Put(PlaceOf("checkpoint-7/MANIFEST"), "no name of ours");
  EXPECT_THAT(checkpoints_.List(), ElementsAre(7, 12));
  EXPECT_THAT(checkpoints_.List(7), ElementsAre(12));
}

// Whatever the moment at which it ends, what is there has no manifest yet.
TEST_F(RemoteCheckpointsTest, AnUploadThatIsCutLeavesNone) {
  const std::string folder = Save(7, disk_ / "made");
  for (int done = 0; done < 4; ++done) {
    server_.SetFaults(R"({"fault": "status", "method": "PUT", "skip": )" +
                      std::to_string(done) + "}");
    EXPECT_THROW(checkpoints_.Push(7, folder), IoError);
    EXPECT_THAT(checkpoints_.List(), IsEmpty()) << done;
  }
  server_.SetFaults("");
  checkpoints_.Push(7, folder);
  EXPECT_THAT(checkpoints_.List(), ElementsAre(7));
}

TEST_F(RemoteCheckpointsTest, AnotherOfTheStepIsNoneWhileItIsReplaced) {
  Push(7);
  server_.SetFaults(R"({"fault": "status", "method": "PUT", "skip": 1})");
  EXPECT_THROW(Push(7), IoError);
  EXPECT_THAT(checkpoints_.List(), IsEmpty());
}

TEST_F(RemoteCheckpointsTest, ARemovalTakesTheManifestFirst) {
  Push(7);
  server_.SetFaults(R"({"fault": "status", "method": "DELETE", "skip": 1})");
  EXPECT_THROW(checkpoints_.Remove(7), IoError);
  EXPECT_THAT(checkpoints_.List(), IsEmpty());
  server_.SetFaults("");
  checkpoints_.Remove(7);
  EXPECT_THAT(server_.Keys("gs-shards"), IsEmpty());
}

TEST_F(RemoteCheckpointsTest, TheNewestWholeOneComesWithTheDamagedOnes) {
  for (const std::int64_t step : {5, 6, 7}) {
    Push(step);
  }
  server_.Put(PlaceOf(NameIn(7, kStateFile)), "damaged");
  checkpoints_.PullNewestUndamaged({5, 6, 7}, disk_ / "here");
  EXPECT_THAT(ListCheckpoints(disk_ / "here"), ElementsAre(6, 7));
  std::vector<std::string> damaged;
  EXPECT_EQ(LoadNewestCheckpoint(disk_ / "here", damaged)->step, 6);
}

TEST_F(RemoteCheckpointsTest, OneThatIsHereIsNotDownloadedAgain) {
  Push(7);
  checkpoints_.Pull(7, disk_ / "here");
  server_.ClearLog();
  checkpoints_.Pull(7, disk_ / "here");
  for (const LoggedRequest& request : server_.log().requests) {
    EXPECT_THAT(request.path, testing::HasSubstr("MANIFEST"));
  }
  // But one that was damaged here is.
  Write(disk_ / ("here/" + NameIn(7, kModelFile)), "damaged");
  checkpoints_.Pull(7, disk_ / "here");
  EXPECT_TRUE(checkpoints_.IsDownloaded(7, disk_ / "here"));
}

TEST_F(RemoteCheckpointsTest, ForALookTheManifestIsEnough) {
  Push(7);
  checkpoints_.PullManifest(7, disk_ / "here");
  EXPECT_THAT(ListCheckpoints(disk_ / "here"), ElementsAre(7));
  EXPECT_THROW((void)LoadCheckpoint(disk_ / "here", 7), DataError);
}

}  // namespace
}  // namespace infeed
