// Writing to a file system that is full: a small tmpfs, where mounting one is
// allowed.

#include <filesystem>
#include <string>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tests/support/matchers.h"
#include "tests/support/small_disk.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

void WriteRecords(const std::string& path, int count, Compression kind) {
  TfrecordWriter writer(path, {.compression = kind, .write_index = true});
  std::string payload(100'000, '\0');
  for (int i = 0; i < count; ++i) {
    for (char& byte : payload) {              // Nothing that could be packed.
      byte = static_cast<char>(std::rand());  // NOLINT(*-msc50-cpp)
    }
    writer.Append(payload);
  }
  writer.Close();
}

TEST(FullDiskTest, LeavesNothingAndGoesOnOnceThereIsSpace) {
  const SmallDisk disk("1m");
  if (!disk.error().empty()) {
    GTEST_SKIP() << "no tmpfs can be mounted: " << disk.error();
  }
  const std::string path = disk.path() + "/train-00000-of-00001";
  for (const Compression kind : {Compression::kNone, Compression::kGzip}) {
    EXPECT_THAT([&] { WriteRecords(path, 20, kind); },
                ThrowsMessage<IoError>(HasSubstr(
                    path + ": cannot write: No space left on device (free "
                           "some space")));
    EXPECT_TRUE(fs::is_empty(disk.path()));
    WriteRecords(path, 5, kind);
    TfrecordReader reader(path);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(reader.Next().has_value());
    }
    fs::remove(path);
    fs::remove_all(disk.path() + "/.infeed");
  }
}

// The data fits, its index does not.
TEST(FullDiskTest, WritesTheShardWithoutItsIndex) {
  const SmallDisk disk("1m");
  if (!disk.error().empty()) {
    GTEST_SKIP() << "no tmpfs can be mounted: " << disk.error();
  }
  const std::string path = disk.path() + "/train-00000-of-00001";
  TfrecordWriter writer(path, {.write_index = true});
  for (int i = 0; i < 60'000; ++i) {
    writer.Append(std::string_view());
  }
  writer.Close();
  EXPECT_EQ(fs::file_size(path), 960'000U);
  EXPECT_FALSE(FindIndex(FileSource(path)).has_value());
}

}  // namespace
}  // namespace infeed
