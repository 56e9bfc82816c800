#include "records/files/class_list.h"

#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

class ClassListTest : public ::testing::Test {
 protected:
  std::string LinesErrorOf(std::string_view text) {
    const std::string path = folder_ / "labels.txt";
    WriteFileAtomically(path, text);
    return MessageOf<DataError>(
        [&] { CheckClassLines(path, ReadClassList(path)); });
  }
  std::string ErrorOf(std::string_view text) {
    WriteFileAtomically(folder_ / "labels.txt", text);
    return MessageOf<DataError>(
        [&] { (void)ReadClassList(folder_ / "labels.txt"); });
  }

  const TemporaryFolder folder_;
};

TEST_F(ClassListTest, HasANameInEachLine) {
  WriteFileAtomically(folder_ / "labels.txt", "cat\r\nk\xC3\xA4se\ncow");
  EXPECT_THAT(ReadClassList(folder_ / "labels.txt"),
              ElementsAre("cat", "k\xC3\xA4se", "cow"));
  WriteFileAtomically(folder_ / "blank.txt", "cat\ndog\n \r\n\n");
  EXPECT_THAT(ReadClassList(folder_ / "blank.txt"), ElementsAre("cat", "dog"));
  EXPECT_THAT(ReadClassList(folder_ / "none.txt"), IsEmpty());
}

TEST_F(ClassListTest, RefusesLinesThatWouldShiftTheClasses) {
  for (const char* text : {"cat\n\ndog\n", "cat\n \r\ndog\n"}) {
    EXPECT_THAT(LinesErrorOf(text),
                EndsWith("labels.txt: line 2 is empty: each line "
                         "is the name of a class; remove the "
                         "line, or name the class"));
  }
  EXPECT_THAT(LinesErrorOf("\ncat\n"),
              HasSubstr("labels.txt: line 1 is empty"));
}

TEST_F(ClassListTest, RefusesNumberedLines) {
  EXPECT_THAT(LinesErrorOf("0:cat\n1:dog\n"),
              HasSubstr("labels.txt: the lines begin with their numbers "
                        "(\"0:cat\"): each line is the name of a class alone"));
  WriteFileAtomically(folder_ / "labels.txt", "0:cat\n2:dog\n");
  EXPECT_NO_THROW(CheckClassLines(folder_ / "labels.txt",
                                  ReadClassList(folder_ / "labels.txt")));
}

TEST_F(ClassListTest, TakesNamesOfOtherEncodingsAndSkipsAByteOrderMark) {
  WriteFileAtomically(folder_ / "labels.txt",
                      "\xEF\xBB\xBF"
                      "cat\r\nk\xE4se\r\nka\xCC\x88se\r\n");
  EXPECT_THAT(ReadClassList(folder_ / "labels.txt"),
              ElementsAre("cat", "k\\xe4se", "k\xC3\xA4se"));
}

TEST_F(ClassListTest, RefusesControlCharacters) {
  EXPECT_THAT(ErrorOf("cat\ndog\n\x1b[31m\n"),
              EndsWith("labels.txt: line 3: a control character in "
                       "\"\\u001b[31m\": remove it"));
  EXPECT_NO_THROW(CheckClassName("k\xE4se"));
  EXPECT_THAT(
      MessageOf<DataError>([] { CheckClassName("a\nb"); }),
      HasSubstr("the name of class \"a\\nb\" has a newline, a tab or another"));
}

TEST_F(ClassListTest, HasALimit) {
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "x\n";
    }
    return text;
  };
  WriteFileAtomically(folder_ / "most.txt", lines(kMostClasses));
  EXPECT_EQ(ReadClassList(folder_ / "most.txt").size(), kMostClasses);
  EXPECT_THAT(ErrorOf(lines(kMostClasses + 1)),
              HasSubstr("labels.txt: more than 100000 lines"));
  EXPECT_NO_THROW(CheckClassCount(kMostClasses));
  EXPECT_THAT(MessageOf<DataError>([] { CheckClassCount(100'001); }),
              HasSubstr("100001 classes; at most 100000 are possible"));
}

}  // namespace
}  // namespace infeed
