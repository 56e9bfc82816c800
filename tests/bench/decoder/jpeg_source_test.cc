#include "bench/decoder/jpeg_source.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

std::string Payload(const std::string& encoded) {
  ImagenetExample example;
  example.encoded = encoded;
  return BuildImagenetExample(example);
}

// The names of all that is found, without the folder.
std::vector<std::string> Names(const TemporaryFolder& folder) {
  const JpegFiles files = FindJpegFiles(folder.path());
  JpegSource source(files);
  std::vector<std::string> names;
  while (const std::optional<FoundJpeg> found = source.Next()) {
    EXPECT_EQ(found->number, static_cast<std::int64_t>(names.size()));
    names.push_back(found->name.substr(folder.path().size() + 1));
  }
  EXPECT_EQ(source.Next(), std::nullopt);
  return names;
}

TEST(JpegSourceTest, WalksFolders) {
  const TemporaryFolder folder;
  MakeFolder(folder / "b/deep");
  MakeFolder(folder / ".side");
  for (const char* name : {"b/deep/x.JPG", "b/y.jpeg", "a.jpg", "notes.txt",
                           ".side/z.jpg", ".hidden.jpg"}) {
    WriteFileAtomically(folder / name, "whatever");
  }
  EXPECT_THAT(Names(folder), ElementsAre("a.jpg", "b/deep/x.JPG", "b/y.jpeg"));
  EXPECT_EQ(FindJpegFiles(folder.path()).bytes, 3 * 8);
}

TEST(JpegSourceTest, ReadsShards) {
  const TemporaryFolder folder;
  const std::string jpeg = TestJpeg({.width = 8, .height = 8});
  RecordFile()
      .Add(Payload(jpeg))
      .Add(Payload("\x89PNG\r\n\x1a\n"))
      .Add(Payload(jpeg + "x"))
      .Write(folder / "train-00000-of-00001");
  WriteFileAtomically(folder / "a.jpg", jpeg);
  EXPECT_THAT(Names(folder),
              ElementsAre("a.jpg", "train-00000-of-00001: record 0",
                          "train-00000-of-00001: record 2"));
  const JpegFiles files = FindJpegFiles(folder / "train-*");
  JpegSource source(files);
  EXPECT_EQ(source.Next()->bytes, jpeg);
  EXPECT_EQ(source.Next()->bytes, jpeg + "x");
}

TEST(JpegSourceTest, TakesOneFile) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.jpg", "whatever");
  const JpegFiles files = FindJpegFiles(folder / "a.jpg");
  EXPECT_EQ(JpegSource(files).Next()->bytes, "whatever");
}

TEST(JpegSourceTest, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THROW(std::ignore = FindJpegFiles(folder.path()), UsageError);
  EXPECT_THROW(std::ignore = FindJpegFiles(folder / "missing"), IoError);
  RecordFile().Add("no Example").Write(folder / "train-00000-of-00001");
  const JpegFiles files = FindJpegFiles(folder.path());
  EXPECT_THAT(
      MessageOf<DataError>([&] { std::ignore = JpegSource(files).Next(); }),
      HasSubstr("train-00000-of-00001: record 0 at byte 0: "));
}

}  // namespace
}  // namespace infeed
