#include "trainer/log/summary_writer.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/reader.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// The payloads of an event file.
std::vector<std::string> Events(const std::string& path) {
  std::vector<std::string> events;
  TfrecordReader reader(path);
  while (const std::optional<Record> record = reader.Next()) {
    events.emplace_back(reinterpret_cast<const char*>(record->payload.data()),
                        record->payload.size());
  }
  return events;
}

std::string FrameOf(const std::string& event) {
  std::string frame;
  AppendFrame(frame, event);
  return ToHex(frame);
}

// The bytes are those that TensorFlow 2.21 serializes.
TEST(SummaryWriterTest, EventsAreTensorFlows) {
  EXPECT_EQ(FrameOf(FileVersionEvent(1.0)),
            "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e"
            "743a3286bf577a");
  EXPECT_EQ(FrameOf(ScalarEvent(2.0, 3, "loss", 1.5)),
            "1a00000000000000129bd82d09000000000000004010032a0d0a0b0a046c6f7373"
            "150000c03f22bc952a");
  EXPECT_EQ(ToHex(ImageEvent(2.0, 3, "a", {"PNG", 5, 4})),
            "09000000000000004010032a120a100a0161220b0804100518032203504e47");
  EXPECT_EQ(
      ToHex(TextEvent(2.0, 3, "a", "hi")),
      "09000000000000004010032a1d0a1b0a0161420c0807120412020801420268694a08"
      "0a060a0474657874");
  EXPECT_THAT(ToHex(ScalarEvent(2.0, 0, "a", 0)),
              testing::EndsWith("2a0a0a080a01611500000000"));
}

// The bytes are those that TensorBoard 2.21 serializes.
TEST(SummaryWriterTest, EventsOfSessionsAreTensorBoards) {
  const std::string begin =
      "5f68706172616d735f2f73657373696f6e5f73746172745f696e666f420608011202120"
      "0";
  EXPECT_EQ(ToHex(SessionStartEvent(2.0, 3, {{"a", "0.5"}, {"b", ""}})),
            "09000000000000004010032a520a500a1c" + begin +
                "4a280a260a0768706172616d73121b1a190a0e0a0161120911000000000000"
                "e03f290000000000000040");
  EXPECT_EQ(ToHex(SessionStartEvent(2.0, 3, {{"a", "true"}})),
            "09000000000000004010032a4b0a490a1c" + begin +
                "4a210a1f0a0768706172616d7312141a120a070a0161120220012900000000"
                "00000040");
  EXPECT_EQ(ToHex(SessionStartEvent(2.0, 3, {{"a", "x"}})),
            "09000000000000004010032a4c0a4a0a1c" + begin +
                "4a220a200a0768706172616d7312151a130a080a016112031a017829000000"
                "0000000040");
  // The columns in the given order.
  EXPECT_EQ(ToHex(ExperimentEvent(
                2.0, {{"b", "0.5"}, {"a", "true"}, {"c", "x"}, {"d", ""}},
                {{"eval", "t", "top"}})),
            "0900000000000000402a610a5f0a145f68706172616d735f2f6578706572696d65"
            "6e7442060801120212004a3f0a3d0a0768706172616d7312321230190000000000"
            "00004022050a0162200322050a0161200222050a016320012a100a090a04657661"
            "6c1201741a03746f70");
  const std::string end =
      "09000000000000004010032a420a400a1a5f68706172616d735f2f73657373696f6e5f65"
      "6e645f696e666f42060801120212004a1a0a180a0768706172616d73120d220b08";
  EXPECT_EQ(ToHex(SessionEndEvent(2.0, 3, true)), end + "01110000000000000040");
  EXPECT_EQ(ToHex(SessionEndEvent(2.0, 3, false)),
            end + "02110000000000000040");
}

class SummaryFileTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
};

TEST_F(SummaryFileTest, TheFileExistsAtOnceAndIsTheWritersOwn) {
  const SummaryWriter writer(folder_ / "eval");
  EXPECT_THAT(Events(writer.path()),
              testing::ElementsAre(HasSubstr("brain.Event:2")));
  EXPECT_THAT(writer.path(), HasSubstr("/eval/events.out.tfevents."));
  EXPECT_NE(SummaryWriter(folder_ / "eval").path(), writer.path());
}

TEST_F(SummaryFileTest, FlushesEveryTenthScalarWhenAskedAndAtItsEnd) {
  std::string path;
  {
    SummaryWriter writer(folder_.path());
    path = writer.path();
    for (int step = 1; step <= 19; ++step) {
      writer.Scalar("loss", 1, step);
    }
    EXPECT_EQ(Events(path).size(), 11U);
    writer.Flush();
    EXPECT_EQ(Events(path).size(), 20U);
    writer.Scalar("loss", 1, 20);
  }
  EXPECT_EQ(Events(path).size(), 21U);
}

TEST_F(SummaryFileTest, NamesAFolderThatCannotBeMade) {
  WriteFileAtomically(folder_ / "file", "");
  EXPECT_THAT(
      MessageOf<IoError>([&] { const SummaryWriter w(folder_ / "file/x"); }),
      HasSubstr("/file/x: cannot create: Not a directory"));
}

}  // namespace
}  // namespace infeed
