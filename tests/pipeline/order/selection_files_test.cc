#include "pipeline/order/selection_files.h"

#include <fstream>
#include <string>

#include "base/error.h"
#include "records/files/text_lines.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

class SelectionFilesTest : public ::testing::Test {
 protected:
  const std::string& Write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "list.txt";
};

TEST_F(SelectionFilesTest, ReadsLines) {
  EXPECT_THAT(ReadLines(Write(" a b\t\r\nc\n\n\n")), ElementsAre("a b", "c"));
  EXPECT_THAT(ReadLines(Write("")), ElementsAre());
  EXPECT_THAT([&] { (void)ReadLines(Write("a\n \nb")); },
              ThrowsMessage<DataError>(HasSubstr("list.txt: line 2 is empty")));
  EXPECT_THAT([&] { (void)ReadLines(folder_ / "none"); },
              ThrowsMessage<IoError>(HasSubstr("none: cannot")));
}

TEST_F(SelectionFilesTest, ReadsRecordsInTheirOrder) {
  EXPECT_THAT(ReadRecordList(Write("7\n2-4\n 9 \n0 - 0\n"), 10),
              ElementsAre(7, 2, 3, 4, 9, 0));
}

TEST_F(SelectionFilesTest, RefusesWhatIsNoRecord) {
  const auto refuses = [&](const std::string& text, const char* why) {
    EXPECT_THAT([&] { (void)ReadRecordList(Write(text), 10); },
                ThrowsMessage<DataError>(HasSubstr(why)))
        << text;
  };
  refuses("1\nx", "line 2: \"x\" is neither a record's number nor a range");
  refuses("1-", "neither");
  refuses("-1", "neither");
  refuses("4-3", "neither");
  refuses("1 2", "neither");
  refuses("99999999999999999999", "neither");
  refuses("10", "line 1: the data set has only 10 records, counted from 0");
  refuses("9-9223372036854775807", "only 10 records");
  refuses("0-9223372036854775806", "only 10 records");
  refuses("3\n2-4", "line 2: record 3 is listed for the second time");
}

TEST_F(SelectionFilesTest, ReadsAWeightForEachRecord) {
  EXPECT_THAT(ReadSampleWeights(Write("1\n0\n2.5e-1\n"), 3),
              ElementsAre(1, 0, 0.25));
  EXPECT_THAT([&] { (void)ReadSampleWeights(Write("1\n2"), 3); },
              ThrowsMessage<DataError>(
                  HasSubstr("has 2 lines, but the data set has 3 records")));
  for (const char* wrong : {"-1", "x", "inf", "nan", "1 2"}) {
    EXPECT_THAT([&] { (void)ReadSampleWeights(Write(wrong), 1); },
                ThrowsMessage<DataError>(HasSubstr("is not a weight")))
        << wrong;
  }
}

TEST_F(SelectionFilesTest, ReadsAWeightForEachClass) {
  EXPECT_THAT(ReadClassWeights(Write("daisy 2\ngolden retriever\t0.5\n3 1")),
              ElementsAre(Pair("3", 1), Pair("daisy", 2),
                          Pair("golden retriever", 0.5)));
}

TEST_F(SelectionFilesTest, RefusesWhatIsNoClassWeight) {
  EXPECT_THAT([&] { (void)ReadClassWeights(Write("daisy")); },
              ThrowsMessage<DataError>(HasSubstr(
                  "line 1: \"daisy\" is not a class and its weight")));
  EXPECT_THAT([&] { (void)ReadClassWeights(Write("daisy -2")); },
              ThrowsMessage<DataError>(HasSubstr("is not a class")));
  EXPECT_THAT([&] { (void)ReadClassWeights(Write("a 1\na 2")); },
              ThrowsMessage<DataError>(
                  HasSubstr("line 2: class a already has a weight")));
}

}  // namespace
}  // namespace infeed
