#include "trainer/remote/weights.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/remote_files.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/remote/checkpoints.h"
#include "trainer/remote/exports.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

class RemoteWeightsTest : public RemoteFiles {
 protected:
  // Relative to a folder of this disk.
  [[nodiscard]] std::string Pull(const std::string& url) const {
    const std::string path = PullWeights(url, here_, runtime_);
    return fs::relative(path, here_).string();
  }

  std::string here_ = disk_ / "here";
};

TEST_F(RemoteWeightsTest, TakesAFile) {
  server_.Put(PlaceOf("resnet50.pth"), "weights");
  EXPECT_EQ(Pull("gs://gs-shards/model/resnet50.pth"), "resnet50.pth");
  EXPECT_EQ(Read(here_ + "/resnet50.pth"), "weights");
}

TEST_F(RemoteWeightsTest, TakesAModelDirsNewestWholeCheckpoint) {
  const RemoteCheckpoints checkpoints(RemoteFolder(kUrl, runtime_));
  for (const std::int64_t step : {5, 6, 7}) {
    checkpoints.Push(step, Save(step, disk_ / "made"));
  }
  server_.Put(PlaceOf(NameIn(7, kModelFile)), "damaged");
  EXPECT_EQ(Pull(kUrl), ".");
  EXPECT_THAT(ListCheckpoints(here_), ElementsAre(6, 7));
}

TEST_F(RemoteWeightsTest, TakesACheckpoint) {
  const RemoteCheckpoints checkpoints(RemoteFolder(kUrl, runtime_));
  checkpoints.Push(5, Save(5, disk_ / "made"));
  for (const char* end : {"", "/"}) {
    EXPECT_EQ(Pull(CheckpointFolder(kUrl, 5) + end), ".");
    EXPECT_EQ(LoadCheckpointFolder(here_).step, 5);
  }
}

TEST_F(RemoteWeightsTest, TakesATensorFlowCheckpointWhole) {
  for (const char* name :
       {"model.ckpt-9.index", "model.ckpt-9.meta",
        "model.ckpt-9.data-00000-of-00001", "model.ckpt-99.index"}) {
    server_.Put(PlaceOf(name), name);
  }
  server_.Put(PlaceOf("checkpoint"),
              "model_checkpoint_path: \"/elsewhere/model.ckpt-9\"\n");
  for (const char* end : {"", "/", "/model.ckpt-9"}) {
    fs::remove_all(here_);
    EXPECT_EQ(Pull(std::string(kUrl) + end), "model.ckpt-9");
    EXPECT_TRUE(fs::exists(here_ + "/model.ckpt-9.index"));
    EXPECT_TRUE(fs::exists(here_ + "/model.ckpt-9.data-00000-of-00001"));
    EXPECT_FALSE(fs::exists(here_ + "/model.ckpt-99.index"));
  }
  fs::remove_all(here_);
  EXPECT_EQ(Pull(std::string(kUrl) + "/model.ckpt-9.data-00000-of-00001"),
            "model.ckpt-9.data-00000-of-00001");
  EXPECT_TRUE(fs::exists(here_ + "/model.ckpt-9.index"));
}

TEST_F(RemoteWeightsTest, SaysWhatIsNotThere) {
  server_.Put(PlaceOf("notes/readme.txt"), "no weights");
  for (const char* end : {"", "/", "/none.pth"}) {
    EXPECT_THAT([&] { (void)Pull(std::string(kUrl) + end); },
                ThrowsMessage<IoError>(HasSubstr("no weights there")))
        << end;
  }
}

class RemoteExportsTest : public RemoteFiles {
 protected:
  // As an exporter leaves it.
  [[nodiscard]] std::string Made(const std::string& name) const {
    for (const char* file : {"model.onnx", "preprocessing.json", "z.bin"}) {
      Write(disk_ / (name + "/" + file), file);
    }
    return disk_ / name;
  }
  void Send() { SendExports(outbox_, runtime_, {}); }

  Outbox outbox_{disk_ / "outbox"};
};

TEST_F(RemoteExportsTest, ComeWhole) {
  EXPECT_EQ(QueueExport(Made("1700000000"), kUrl, outbox_, runtime_),
            std::string(kUrl) + "/1700000000");
  Send();
  EXPECT_THAT(server_.Keys("gs-shards"),
              UnorderedElementsAre("model/1700000000/model.onnx",
                                   "model/1700000000/preprocessing.json",
                                   "model/1700000000/z.bin"));
  EXPECT_THAT(outbox_.Exports(), IsEmpty());
}

TEST_F(RemoteExportsTest, TakeTheNextNumberThatIsFree) {
  server_.Put(PlaceOf("1700000000/model.onnx"), "another's");
  EXPECT_EQ(QueueExport(Made("1700000000"), kUrl, outbox_, runtime_),
            std::string(kUrl) + "/1700000001");
}

TEST_F(RemoteExportsTest, HaveThePreprocessingLast) {
  (void)QueueExport(Made("1700000000"), kUrl, outbox_, runtime_);
  server_.SetFaults(R"({"fault": "status", "method": "PUT", "skip": 2})");
  EXPECT_THROW(Send(), IoError);
  EXPECT_FALSE(IsThere("1700000000/preprocessing.json"));
  server_.SetFaults("");
  Send();
  EXPECT_TRUE(IsThere("1700000000/preprocessing.json"));
}

// Where a store does not even list.
TEST_F(RemoteExportsTest, WaitForAStoreThatIsGone) {
  server_.SetFaults(R"({"fault": "status"})");
  (void)QueueExport(Made("1700000000"), kUrl, outbox_, runtime_);
  EXPECT_THROW(Send(), IoError);
  EXPECT_THAT(outbox_.Exports(), ElementsAre("1700000000"));
}

}  // namespace
}  // namespace infeed
