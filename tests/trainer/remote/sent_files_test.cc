#include "trainer/remote/sent_files.h"

#include <fstream>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

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

TEST_F(SentFilesTest, NamesWhatIsGone) {
  Write("metrics.jsonl", "{}\n");
  Write("eval/00000042.json", "{}");
  Send("metrics.jsonl");
  Send("eval/00000042.json");
  sent_.NoteNewestStep(42);
  sent_.NoteNewCourse(-1);
  EXPECT_THAT(sent_.Gone(), IsEmpty());
  RemoveFile(folder_ / "model/eval/00000042.json");
  EXPECT_THAT(sent_.Gone(), ElementsAre("eval/00000042.json"));
  sent_.Forget("eval/00000042.json");
  EXPECT_THAT(sent_.Gone(), IsEmpty());
  EXPECT_TRUE(sent_.WasSent("metrics.jsonl"));
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
  EXPECT_EQ(sent_.new_course(), std::nullopt);
  sent_.NoteNewCourse(-1);
  EXPECT_EQ(SentFiles(folder_ / "model", folder_ / "sent.json").new_course(),
            -1);
  sent_.NoteNewCourse({});
  EXPECT_EQ(sent_.new_course(), std::nullopt);
  const SentFiles next(folder_ / "model", folder_ / "sent.json");
  EXPECT_TRUE(next.WasSent("params.yaml"));
  EXPECT_FALSE(next.WasSent("metrics.jsonl"));
  EXPECT_THAT(next.Changed(), IsEmpty());
}

TEST_F(SentFilesTest, ARecordThatIsForgottenOrCannotBeReadCountsAsNone) {
  Write("params.yaml", "seed: 1\n");
  Send("params.yaml");
  for (const char* record : {"", "{", "[]", R"({"params.yaml": "sent"})"}) {
    WriteFileAtomically(folder_ / "sent.json", record);
    const SentFiles next(folder_ / "model", folder_ / "sent.json");
    EXPECT_THAT(next.Changed(), ElementsAre("params.yaml")) << record;
  }
  sent_.Forget();
  EXPECT_FALSE(sent_.WasSent("params.yaml"));
  EXPECT_THAT(sent_.Changed(), ElementsAre("params.yaml"));
}

}  // namespace
}  // namespace infeed
