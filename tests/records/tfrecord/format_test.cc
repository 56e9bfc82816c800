#include "records/tfrecord/format.h"

#include <string>
#include <string_view>

#include "tests/support/hex.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::string Frame(std::string_view payload) {
  std::string frame;
  AppendFrame(frame, payload);
  return frame;
}

TEST(TfrecordFormatTest, FramesAreTheReferencesBytes) {
  EXPECT_EQ(ToHex(Frame("")), "000000000000000029039807d8ea82a2");
  EXPECT_EQ(ToHex(Frame("a")), "01000000000000000175de4161786ee428");
  EXPECT_EQ(ToHex(Frame("hello")),
            "0500000000000000eab2043e68656c6c6fbb1f1c19");
  EXPECT_EQ(ToHex(Frame("abcabcabc")),
            "090000000000000037f97139616263616263616263ece64b9e");
}

TEST(TfrecordFormatTest, AnEventFilesFirstRecordIsTheReferencesBytes) {
  const std::string event =
      FromHex("09000000000000f03f1a0d627261696e2e4576656e743a32");
  EXPECT_EQ(ToHex(Frame(event)),
            "1800000000000000a37f4b22"
            "09000000000000f03f1a0d627261696e2e4576656e743a32"
            "86bf577a");
}

TEST(TfrecordFormatTest, AppendingKeepsWhatIsThere) {
  std::string out = "before";
  AppendFrame(out, "a");
  EXPECT_EQ(out, "before" + Frame("a"));
}

}  // namespace
}  // namespace infeed
