#include "trainer/remote/outbox.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/remote_files.h"
#include "tests/support/temporary_folder.h"
#include "trainer/model_dir/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

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
  const std::string made = Made(7, "seven");
  outbox_.AddCheckpoint(7, made);
  fs::remove_all(made);
  EXPECT_THAT(outbox_.Steps(), ElementsAre(7));
  EXPECT_EQ(ModelOf(7), "seven");
}

TEST_F(OutboxTest, TakesNoRoomBeforeTheCheckpointIsDeleted) {
  const std::string made = Made(7, "seven");
  outbox_.AddCheckpoint(7, made);
  EXPECT_TRUE(fs::equivalent(PathIn(made, kModelFile),
                             PathIn(outbox_.FolderOf(7), kModelFile)));
}

TEST_F(OutboxTest, ALaterOneOfTheSameStepTakesThePlace) {
  const std::string made = Made(7, "first");
  outbox_.AddCheckpoint(7, made);
  fs::remove_all(made);
  outbox_.AddCheckpoint(7, Made(7, "second"));
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

class SentFilesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    MakeFolder(folder_ / "model/eval");
    WriteFileAtomically(folder_ / "model/" + name, text);
  }
  void Send(const std::string& name) {
    sent_.Note(name, sent_.ReadState(name));
  }

  TemporaryFolder folder_;
  SentFiles sent_{folder_ / "model", folder_ / "sent.json"};
};

TEST_F(SentFilesTest, NamesWhatIsNewOrChanged) {
  Write("metrics.jsonl", "{}\n");
  Write("eval/00000042.json", "{}");
  EXPECT_THAT(sent_.Changed(),
              ElementsAre("eval/00000042.json", "metrics.jsonl"));
  Send("metrics.jsonl");
  Send("eval/00000042.json");
  EXPECT_THAT(sent_.Changed(), IsEmpty());
  std::ofstream(folder_ / "model/metrics.jsonl", std::ios::app) << "{}\n";
  EXPECT_THAT(sent_.Changed(), ElementsAre("metrics.jsonl"));
}

TEST_F(SentFilesTest, WhatGrewWhileItWasSentIsSentAgain) {
  Write("metrics.jsonl", "{}\n");
  const SentFiles::State before = sent_.ReadState("metrics.jsonl");
  std::ofstream(folder_ / "model/metrics.jsonl", std::ios::app) << "{}\n";
  sent_.Note("metrics.jsonl", before);
  EXPECT_THAT(sent_.Changed(), ElementsAre("metrics.jsonl"));
}

TEST_F(SentFilesTest, LeavesCheckpointsAndUnfinishedFilesAlone) {
  MakeFolder(folder_ / "model/checkpoint-00000005");
  MakeFolder(folder_ / "model/.checkpoint-00000006.new-1");
  Write("checkpoint-00000005/MANIFEST", "{}");
  Write(".checkpoint-00000006.new-1/MANIFEST", "{}");
  Write("report.html.tmp-17", "<html>");
  EXPECT_THAT(sent_.Changed(), IsEmpty());
}

TEST_F(SentFilesTest, OutlivesItsProcess) {
  Write("params.yaml", "seed: 1\n");
  Send("params.yaml");
  const SentFiles next(folder_ / "model", folder_ / "sent.json");
  EXPECT_TRUE(next.WasSent("params.yaml"));
  EXPECT_FALSE(next.WasSent("metrics.jsonl"));
  EXPECT_THAT(next.Changed(), IsEmpty());
}

TEST_F(SentFilesTest, ARecordThatCannotBeReadCountsAsNone) {
  Write("params.yaml", "seed: 1\n");
  Send("params.yaml");
  for (const char* record : {"", "{", "[]", R"({"params.yaml": "sent"})"}) {
    WriteFileAtomically(folder_ / "sent.json", record);
    const SentFiles next(folder_ / "model", folder_ / "sent.json");
    EXPECT_THAT(next.Changed(), ElementsAre("params.yaml")) << record;
  }
}

TEST_F(SentFilesTest, ForgetsAll) {
  Write("params.yaml", "seed: 1\n");
  Send("params.yaml");
  sent_.Forget();
  EXPECT_FALSE(sent_.WasSent("params.yaml"));
  EXPECT_THAT(sent_.Changed(), ElementsAre("params.yaml"));
}

}  // namespace

}  // namespace infeed
