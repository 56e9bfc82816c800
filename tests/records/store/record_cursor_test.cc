#include "records/store/record_cursor.h"

#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed::record_cursor_test {

TEST(RecordCursor, ReadsTfrecords) {
  const TemporaryFolder folder;
  RecordCursor cursor(
      OpenSource(RecordFile().Add("a").Add("bc").Write(folder / "x")));
  EXPECT_EQ(cursor.format(), RecordFormat::kTfrecord);
  EXPECT_EQ(AsText(cursor.Next()->payload), "a");
  EXPECT_EQ(AsText(cursor.Next()->payload), "bc");
  EXPECT_FALSE(cursor.Next());
  EXPECT_FALSE(cursor.Next());
}

TEST(RecordCursor, GoesOnBehindABadSampleOfATar) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "x", TarFile()
                                        .Add("1.jpg", "one")
                                        .Add("2.txt", "no image")
                                        .Add("3.png", "three")
                                        .End()
                                        .text());
  RecordCursor cursor(OpenSource(folder / "x"));
  EXPECT_EQ(cursor.format(), RecordFormat::kTar);
  EXPECT_EQ(ParseImagenetExample(cursor.Next()->payload).filename, "1.jpg");
  EXPECT_THROW((void)cursor.Next(), DataError);
  const std::optional<Record> third = cursor.Next();
  EXPECT_EQ(third->number, 2);
  EXPECT_EQ(AsText(ParseImagenetExample(third->payload).encoded), "three");
  EXPECT_FALSE(cursor.Next());
}

// A tar without any image is of samples whose members are features.
TEST(RecordCursor, ReadsTheMembersOfATarWithoutImages) {
  const TemporaryFolder folder;
  TarFile tar;
  tar.Add("1.txt", "one").Add("1.cls", "cat").Add("2.txt", "two");
  WriteFileAtomically(folder / "x", TarFile(tar).End().text());
  RecordCursor cursor(OpenSource(folder / "x"));
  const auto keys = [&] {
    std::string all;
    for (const ExampleFeature& member : ListFeatures(cursor.Next()->payload)) {
      all.append(member.key).append(" ");
    }
    return all;
  };
  EXPECT_EQ(keys(), "__key__ cls txt ");
  EXPECT_EQ(keys(), "__key__ txt ");
  // A key that was given, and one image among the first samples.
  WriteFileAtomically(folder / "y", tar.Add("3.jpg", "three").End().text());
  EXPECT_THROW((void)RecordCursor(OpenSource(folder / "y")).Next(), DataError);
  EXPECT_THROW((void)RecordCursor(OpenSource(folder / "x"), {}, "png").Next(),
               DataError);
}

TEST(RecordCursor, NamesTheFormatOfAFileWithoutRecords) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.jpg";
  WriteFileAtomically(path, TestJpeg({}));
  RecordCursor cursor(OpenSource(path), {.resynchronise = true});
  EXPECT_THAT([&] { (void)cursor.Next(); },
              ThrowsMessage<DataError>(StartsWith(
                  path + ": record 0 at byte 0: a JPEG image, not a file of "
                         "records: give the folder")));
  EXPECT_FALSE(cursor.Next());
}

}  // namespace infeed::record_cursor_test
