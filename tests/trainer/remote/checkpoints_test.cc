#include "trainer/remote/checkpoints.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/remote_files.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

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

TEST_F(RemoteCheckpointsTest, OnlyFoldersWithAManifestCount) {
  Push(7);
  Push(12);
  server_.Put(PlaceOf(NameIn(13, kModelFile)), "begun");
  server_.Put(PlaceOf("checkpoint-7/MANIFEST"), "no name of ours");
  EXPECT_THAT(checkpoints_.List(), ElementsAre(7, 12));
  EXPECT_THAT(checkpoints_.List(7), ElementsAre(12));
}

// Whenever the upload ends, the store has no manifest yet.
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
    EXPECT_THAT(request.path, HasSubstr("MANIFEST"));
  }
  // But one that was damaged here is.
  Write(disk_ / ("here/" + NameIn(7, kModelFile)), "damaged");
  checkpoints_.Pull(7, disk_ / "here");
  EXPECT_TRUE(checkpoints_.IsDownloaded(7, disk_ / "here"));
}

TEST_F(RemoteCheckpointsTest, PullStateBringsAllButTheTensors) {
  Push(7);
  checkpoints_.PullState(7, disk_ / "here");
  EXPECT_THAT(ListCheckpoints(disk_ / "here"), ElementsAre(7));
  EXPECT_EQ(LoadRunState(disk_ / "here", 7).stream, MadeCheckpoint(7).stream);
  EXPECT_THROW((void)LoadCheckpoint(disk_ / "here", 7), DataError);
}

class RemoteWeightsTest : public RemoteFiles {
 protected:
  // Relative to a folder of this disk, which is emptied.
  [[nodiscard]] std::string Pull(const std::string& url) const {
    fs::remove_all(here_);
    const std::string path = PullWeights(url, here_, runtime_);
    return fs::relative(path, here_).string();
  }
  void Push(const std::vector<std::int64_t>& steps) const {
    const RemoteCheckpoints checkpoints(RemoteFolder(kUrl, runtime_));
    for (const std::int64_t step : steps) {
      checkpoints.Push(step, Save(step, disk_ / "made"));
    }
  }

  std::string here_ = disk_ / "here";
};

TEST_F(RemoteWeightsTest, TakesAModelDirsNewestWholeCheckpoint) {
  Push({5, 6, 7});
  server_.Put(PlaceOf(NameIn(7, kModelFile)), "damaged");
  EXPECT_EQ(Pull(kUrl), ".");
  EXPECT_THAT(ListCheckpoints(here_), ElementsAre(6, 7));
}

TEST_F(RemoteWeightsTest, TakesACheckpoint) {
  Push({5});
  for (const char* end : {"", "/"}) {
    EXPECT_EQ(Pull(CheckpointFolder(kUrl, 5) + end), ".");
    EXPECT_EQ(LoadCheckpointFolder(here_).step, 5);
  }
}

// The names of classes, and the variant.
TEST_F(RemoteWeightsTest, TakesWhatSaysWhatTheyAre) {
  Push({5});
  server_.Put(PlaceOf("labels.txt"), "ant\nbee\n");
  EXPECT_EQ(Pull(CheckpointFolder(kUrl, 5)), ".");
  EXPECT_EQ(Read(here_ + "/labels.txt"), "ant\nbee\n");
  EXPECT_EQ(Pull(CheckpointFolder(kUrl, 5) + "/model.safetensors"),
            "model.safetensors");
  EXPECT_TRUE(fs::exists(here_ + "/state.json"));
  server_.Put(PlaceOf("export/model.safetensors"), "weights");
  server_.Put(PlaceOf("export/preprocessing.json"), "{}");
  EXPECT_EQ(Pull(std::string(kUrl) + "/export/model.safetensors"),
            "model.safetensors");
  EXPECT_EQ(Read(here_ + "/preprocessing.json"), "{}");
}

TEST_F(RemoteWeightsTest, TakesATensorFlowCheckpointWhole) {
  const std::string data = "model.ckpt-9.data-00000-of-00001";
  for (const std::string& name :
       {data, std::string("model.ckpt-9.index"),
        std::string("model.ckpt-9.meta"), std::string("model.ckpt-99.index")}) {
    server_.Put(PlaceOf(name), name);
  }
  server_.Put(PlaceOf("checkpoint"),
              "model_checkpoint_path: \"/elsewhere/model.ckpt-9\"\n");
  for (const char* end : {"", "/", "/model.ckpt-9"}) {
    EXPECT_EQ(Pull(std::string(kUrl) + end), "model.ckpt-9");
    EXPECT_TRUE(fs::exists(here_ + "/model.ckpt-9.index"));
    EXPECT_TRUE(fs::exists(here_ + "/" + data));
    EXPECT_FALSE(fs::exists(here_ + "/model.ckpt-99.index"));
  }
  EXPECT_EQ(Pull(std::string(kUrl) + "/" + data), data);
  EXPECT_TRUE(fs::exists(here_ + "/model.ckpt-9.index"));
}

TEST_F(RemoteWeightsTest, TakesAFileOfAWebServer) {
  server_.Put("plain/w/resnet18.pth", "weights");
  EXPECT_EQ(Pull(server_.url() + "/plain/w/resnet18.pth"), "resnet18.pth");
  EXPECT_EQ(Read(here_ + "/resnet18.pth"), "weights");
  EXPECT_THROW((void)Pull(server_.url() + "/plain/w/none.pth"), IoError);
}

TEST_F(RemoteWeightsTest, ListsTheFilesOfAName) {
  server_.Put(PlaceOf("resnet18-f37072fd.pth"), "weights");
  server_.Put(PlaceOf("resnet50.pth"), "weights");
  server_.Put(PlaceOf("resnet18-old/model.pth"), "weights");
  EXPECT_THAT(ListWeights(kUrl, "resnet18", runtime_),
              ElementsAre("resnet18-f37072fd.pth"));
  server_.Put("plain/w/resnet18.pth", "weights");
  const std::string url = server_.url() + "/plain/w";
  EXPECT_THAT(ListWeights(url, "resnet18", runtime_),
              ElementsAre("resnet18.pth"));
  EXPECT_THAT(ListWeights(url, "resnet34", runtime_), IsEmpty());
}

TEST_F(RemoteWeightsTest, SaysWhatIsNotThere) {
  server_.Put(PlaceOf("notes/readme.txt"), "no weights");
  for (const char* end : {"", "/", "/none.pth"}) {
    EXPECT_THAT([&] { (void)Pull(std::string(kUrl) + end); },
                ThrowsMessage<IoError>(HasSubstr("no weights there")))
        << end;
  }
}

}  // namespace
}  // namespace infeed
