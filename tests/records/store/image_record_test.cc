#include "records/store/image_record.h"

#include <sys/resource.h>

#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/store/label_index.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

class ImageRecordTest : public ::testing::Test {
 protected:
  LabelledImage File(const std::string& name, const std::string& bytes,
                     std::int64_t label = -1) {
    WriteFileAtomically(folder_ / name, bytes);
    return {.path = folder_ / name, .label = label};
  }

  TemporaryFolder folder_;
};

TEST_F(ImageRecordTest, IsTheExampleOfItsFile) {
  const RecordIndex index = RecordIndex::OfImages(
      {File("b.png", "first", 3), File("a.jpg", "the second")});
  EXPECT_TRUE(index.is_of_images());
  EXPECT_EQ(index.size(), 2);
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  const auto payload = store.Read(0, buffer);
  EXPECT_LE(payload.size(), static_cast<std::size_t>(index.max_length()));
  const ImagenetExampleView first = ParseImagenetExample(payload);
  EXPECT_EQ(AsText(first.encoded), "first");
  EXPECT_EQ(first.label, 3);
  EXPECT_EQ(first.filename, "b.png");
  const ImagenetExampleView second =
      ParseImagenetExample(store.Read(1, buffer));
  EXPECT_EQ(AsText(second.encoded), "the second");
  EXPECT_EQ(second.label, -1);
}

TEST_F(ImageRecordTest, LeavesItsFolderAsItIs) {
  const RecordIndex index =
      RecordIndex::OfImages({File("a.jpg", "a", 3), File("gone.jpg", "b")});
  std::filesystem::remove(folder_ / "gone.jpg");
  std::vector<std::byte> buffer;
  EXPECT_EQ(
      AsText(ParseImagenetExample(RecordStore(index).Read(0, buffer)).encoded),
      "a");
  EXPECT_TRUE(SeekStore(index).Read(0, buffer).empty());
  EXPECT_EQ(RecordLabels(index), (std::vector<std::int64_t>{3, kNoLabel}));
  std::vector<std::string> left;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_.path())) {
    left.push_back(entry.path());
  }
  EXPECT_EQ(left, std::vector{folder_ / "a.jpg"});
}

TEST_F(ImageRecordTest, ComesWithOthersAndAnnounced) {
  const RecordIndex index =
      RecordIndex::OfImages({File("a.jpg", "a"), File("b.jpg", "b")});
  const RecordStore store(index);
  const std::vector<std::int64_t> records = {1, 0};
  store.WillRead(records);
  std::vector<std::string> images(2);
  store.ReadMany(
      records,
      [&](std::size_t place, std::span<const std::byte> payload) {
        images[place] = AsText(ParseImagenetExample(payload).encoded);
      },
      [](std::size_t, const DataError& error) { FAIL() << error.what(); });
  EXPECT_EQ(images, (std::vector<std::string>{"b", "a"}));
}

TEST_F(ImageRecordTest, ThatCannotBeReadIsBadData) {
  const LabelledImage hole = File("long.jpg", "");
  std::filesystem::resize_file(hole.path, kMaxImageFileBytes + 1);
  const RecordIndex index = RecordIndex::OfImages(
      {{.path = folder_ / "gone.jpg"}, File("cut.jpg", "whole"), hole});
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  EXPECT_THAT([&] { (void)store.Read(0, buffer); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("gone.jpg: cannot read: No such file"))));
  std::filesystem::resize_file(folder_ / "cut.jpg", 2);
  EXPECT_THAT([&] { (void)store.Read(1, buffer); },
              ThrowsMessage<DataError>(
                  HasSubstr("cut.jpg: the file changed after it was listed")));
  EXPECT_THAT([&] { (void)store.Read(2, buffer); },
              ThrowsMessage<DataError>(HasSubstr("too long for an image")));
}

TEST_F(ImageRecordTest, AFolderIsNoImageFile) {
  EXPECT_THAT([&] { (void)RecordIndex::OfImages({{.path = folder_.path()}}); },
              ThrowsMessage<UsageError>(
                  AllOf(HasSubstr(folder_.path()),
                        HasSubstr(": is a folder, not an image file"))));
}

// However many images there are: each would be one that is good tomorrow.
TEST_F(ImageRecordTest, ALackOfDescriptorsIsNoBadData) {
  const RecordIndex index = RecordIndex::OfImages({File("a.jpg", "whole")});
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::exception_ptr error;
  try {
    (void)store.Read(0, buffer);
  } catch (...) {  // Sanitizers need descriptors to look at it.
    error = std::current_exception();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(error);
  EXPECT_THAT([&] { std::rethrow_exception(error); },
              ThrowsMessage<IoError>(
                  AllOf(HasSubstr("a.jpg: cannot open: Too many open files"),
                        HasSubstr("ulimit -n"))));
}

}  // namespace
}  // namespace infeed
