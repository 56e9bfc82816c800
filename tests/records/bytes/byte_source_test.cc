#include "records/bytes/byte_source.h"

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

std::string ReadText(const ByteSource& source, std::int64_t offset,
                     std::size_t count) {
  std::string text(count, '?');
  text.resize(source.ReadAt(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(ByteSourceTest, ReadsAnywhereAndStopsAtTheEnd) {
  const TemporaryFolder folder;
  const FileSource file(RecordFile().AddRaw("0123456789").Write(folder / "f"));
  const MemorySource memory("name", "0123456789");
  EXPECT_EQ(memory.path(), "name");
  memory.WillRead(0, 10);
  for (const ByteSource* source : {static_cast<const ByteSource*>(&file),
                                   static_cast<const ByteSource*>(&memory)}) {
    EXPECT_EQ(source->size(), 10);
    EXPECT_EQ(ReadText(*source, 3, 4), "3456");
    EXPECT_EQ(ReadText(*source, 8, 4), "89");
    EXPECT_EQ(ReadText(*source, 10, 4), "");
    EXPECT_EQ(ReadText(*source, 99, 4), "");
  }
}

TEST(ByteSourceTest, KnowsWhenItsFileWasChanged) {
  const TemporaryFolder folder;
  const std::string path = RecordFile().AddRaw("abc").Write(folder / "f");
  const FileSource source(path);
  EXPECT_EQ(source.path(), path);
  EXPECT_GT(source.version(), 0);
  EXPECT_EQ(FileSource(path).version(), source.version());
}

TEST(ByteSourceTest, OpensRegularFilesOnly) {
  const TemporaryFolder folder;
  EXPECT_THAT(MessageOf<IoError>([] { FileSource("no/such/file"); }),
              HasSubstr("no/such/file: cannot open: No such file"));
  EXPECT_THAT(MessageOf<IoError>([&] { FileSource{folder.path()}; }),
              HasSubstr("it is a folder"));
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(MessageOf<IoError>([&] { FileSource{pipe}; }),
              HasSubstr("it is not a regular file"));
}

TEST(ByteSourceTest, ReportsAReadThatFails) {
  // The first page of a process's memory is never mapped.
  const FileSource source("/proc/self/mem");
  std::array<std::byte, 8> bytes{};
  EXPECT_THROW((void)source.ReadAt(0, bytes), IoError);
}

}  // namespace
}  // namespace infeed
