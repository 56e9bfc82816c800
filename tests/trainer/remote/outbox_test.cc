#include "trainer/remote/outbox.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/remote_files.h"
#include "tests/support/temporary_folder.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class OutboxTest : public testing::Test {
 protected:
  // A folder like a checkpoint's.
  [[nodiscard]] std::string Made(std::int64_t step, const std::string& text) {
    std::string folder = CheckpointFolder(folder_ / "model", step);
    MakeFolder(folder);
    WriteFileAtomically(PathIn(folder, kModelFile), text);
    WriteFileAtomically(PathIn(folder, kManifestFile), text);
    return folder;
  }
  void Add(std::int64_t step) {
    outbox_.AddCheckpoint(step, Made(step, std::to_string(step)));
  }
  [[nodiscard]] std::string ModelOf(std::int64_t step) const {
    return ReadWholeFile(PathIn(outbox_.FolderOf(step), kModelFile), 100);
  }

  TemporaryFolder folder_;
  Outbox outbox_{folder_ / "outbox"};
};

TEST_F(OutboxTest, KeepsACheckpointThatIsDeleted) {
  const std::string made = Made(7, "first");
  outbox_.AddCheckpoint(7, made);
  // It takes no room before that.
  EXPECT_TRUE(fs::equivalent(PathIn(made, kModelFile),
                             PathIn(outbox_.FolderOf(7), kModelFile)));
  fs::remove_all(made);
  EXPECT_THAT(outbox_.Steps(), ElementsAre(7));
  EXPECT_EQ(ModelOf(7), "first");
  outbox_.AddCheckpoint(7, Made(7, "second"));  // It takes the place.
  EXPECT_EQ(ModelOf(7), "second");
}

TEST_F(OutboxTest, OutlivesItsProcess) {
  Add(3);
  Add(12);
  // The unfinished addition of a killed process.
  MakeFolder(TemporaryCheckpointFolder(folder_ / "outbox", 13, "new"));
  Outbox next(folder_ / "outbox");
  EXPECT_THAT(next.Steps(), ElementsAre(3, 12));
  EXPECT_FALSE(
      fs::exists(TemporaryCheckpointFolder(folder_ / "outbox", 13, "new")));
}

TEST_F(OutboxTest, KeepsNoMoreThanADiskWould) {
  for (const std::int64_t step : {1, 2, 3, 4, 5}) {
    Add(step);
  }
  outbox_.DropSuperseded({.last = 2, .every = 3, .best = 1});
  EXPECT_THAT(outbox_.Steps(), ElementsAre(1, 3, 4, 5));
}

TEST_F(OutboxTest, WhatIsBeingUploadedStays) {
  Add(1);
  EXPECT_EQ(outbox_.BeginNewest(), 1);
  Add(2);
  Add(3);
  outbox_.DropSuperseded({.last = 1});
  EXPECT_THAT(outbox_.Steps(), ElementsAre(1, 3));
  outbox_.DropCheckpoint(1);
  EXPECT_EQ(outbox_.BeginNewest(), 3);
  outbox_.DropCheckpoint(3);
  EXPECT_EQ(outbox_.BeginNewest(), std::nullopt);
}

class RemoteExportsTest : public RemoteFiles {
 protected:
  // A finished export's folder.
  [[nodiscard]] std::string Made(const std::string& name) const {
    for (const char* file : {"model.onnx", "preprocessing.json", "z.bin"}) {
      Write(disk_ / (name + "/" + file), file);
    }
    return disk_ / name;
  }
  std::string Add(const std::string& name) {
    return outbox_.AddExport(Made(name), kUrl, runtime_);
  }
  void Send() { outbox_.SendExports(runtime_, {}); }

  Outbox outbox_{disk_ / "outbox"};
};

TEST_F(RemoteExportsTest, ComeWhole) {
  EXPECT_EQ(Add("1700000000"), std::string(kUrl) + "/1700000000");
  EXPECT_FALSE(fs::exists(disk_ / "1700000000"));
  EXPECT_THAT(outbox_.Exports(), ElementsAre("1700000000"));
  Send();
  EXPECT_THAT(server_.Keys("gs-shards"),
              UnorderedElementsAre("model/1700000000/model.onnx",
                                   "model/1700000000/preprocessing.json",
                                   "model/1700000000/z.bin"));
  EXPECT_THAT(outbox_.Exports(), IsEmpty());
}

TEST_F(RemoteExportsTest, ExportsTakeTheNextFreeNumber) {
  server_.Put(PlaceOf("1700000000/model.onnx"), "another's");
  EXPECT_EQ(Add("1700000000"), std::string(kUrl) + "/1700000001");
}

TEST_F(RemoteExportsTest, PreprocessingIsUploadedLast) {
  (void)Add("1700000000");
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
  (void)Add("1700000000");
  EXPECT_THROW(Send(), IoError);
  EXPECT_THAT(outbox_.Exports(), ElementsAre("1700000000"));
}

}  // namespace
}  // namespace infeed
