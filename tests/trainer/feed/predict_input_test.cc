#include "trainer/feed/predict_input.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/served_object.h"

namespace infeed {
namespace {

// Nothing here is decoded: any bytes will do.
class PredictInputTest : public testing::Test {
 protected:
  PredictInputTest() {
    for (const char* name : {"cats/b.png", "cats/a.JPG", "dogs/c.webp", "d.jpg",
                             "cats/notes.txt", "cats/.hidden.jpg"}) {
      folder_.File(name, "an image");
    }
    for (const char* name :
         {"shards/train-00000-of-00001", "shards/test-00000-of-00001",
          "kept/records.tfrecord", "val/validation-00000-of-00001"}) {
      folder_.Folder(std::filesystem::path(name).parent_path().string());
      RecordFile().Add("one").Add("two").Write(folder_ / name);
    }
  }

  [[nodiscard]] RecordIndex Of(const std::vector<std::string>& names) const {
    std::vector<std::string> inputs;
    for (const std::string& name : names) {
      inputs.push_back(folder_ / name);
    }
    return RecordsOf(inputs, ModelLabels({"dogs", "cats"}));
  }

  ImageFolder folder_;
};

TEST_F(PredictInputTest, RefusesASetThatIsNotWhole) {
  RecordFile().Add("one").Write(folder_ / "shards/train-00000-of-00002");
  EXPECT_THROW((void)Of({"shards"}), DataError);
  EXPECT_THROW((void)RecordsOfSplit(folder_ / "shards", "train"), DataError);
}

TEST_F(PredictInputTest, FoldersGiveTheirImagesByName) {
  EXPECT_TRUE(Of({"cats", "dogs"}).is_of_images());
  EXPECT_THAT(Of({"cats", "dogs"}).shards(),
              ElementsAre(folder_ / "cats/a.JPG", folder_ / "cats/b.png",
                          folder_ / "dogs/c.webp"));
  EXPECT_THAT(Of({""}).shards(),
              ElementsAre(folder_ / "cats/a.JPG", folder_ / "cats/b.png",
                          folder_ / "d.jpg", folder_ / "dogs/c.webp"));
  // A file is an image whatever its name.
  EXPECT_THAT(Of({"cats/notes.txt", "d.jpg"}).shards(),
              ElementsAre(folder_ / "cats/notes.txt", folder_ / "d.jpg"));
}

TEST_F(PredictInputTest, LinksAreFollowedOnce) {
  std::filesystem::create_directory_symlink("..", folder_ / "cats/up");
  for (const char* name : {"dogs/one", "dogs/two"}) {
    std::filesystem::create_directory_symlink(".", folder_ / name);
  }
  EXPECT_THAT(Of({""}).shards(), SizeIs(4));
  EXPECT_THAT(Of({"dogs"}).shards(), SizeIs(1));
}

TEST_F(PredictInputTest, FilesThatCannotBeReadAreImages) {
  std::filesystem::create_symlink("nowhere.png", folder_ / "dogs/a.png");
  const RecordIndex index = Of({"dogs"});
  EXPECT_THAT(index.shards(),
              ElementsAre(folder_ / "dogs/a.png", folder_ / "dogs/c.webp"));
}

TEST_F(PredictInputTest, ClassFoldersGiveLabels) {
  const RecordIndex index = Of({"cats/b.png", "dogs", "d.jpg"});
  EXPECT_EQ(index.label(0), 2);
  EXPECT_EQ(index.label(1), 1);
  EXPECT_EQ(index.label(2), -1);
}

TEST_F(PredictInputTest, ClassFoldersOnTheWebAreDecoded) {
  const LoopbackServer server(ServeObject("an image"));
  const RecordIndex index = RecordsOf(
      {server.url() + "/b%C3%A9e/1.jpg",
       server.url() + "/a%20cat/1.jpg?token=x/y", server.url() + "/dog/1.jpg"},
      ModelLabels({"a cat", "b\u00e9e"}));
  EXPECT_EQ(index.label(0), 2);
  EXPECT_EQ(index.label(1), 1);
  EXPECT_EQ(index.label(2), -1);
}

TEST_F(PredictInputTest, ShardsAreKnownByTheirNames) {
  EXPECT_EQ(Of({"shards"}).size(), 4);
  EXPECT_FALSE(Of({"shards"}).is_of_images());
  EXPECT_EQ(Of({"shards/train-00000-of-00001"}).size(), 2);
  EXPECT_EQ(Of({"shards/te*"}).size(), 2);
  EXPECT_EQ(Of({"kept/records.tfrecord"}).size(), 2);
}

TEST_F(PredictInputTest, RefusesWhatIsNotThereAndMixedKinds) {
  EXPECT_THAT([&] { (void)Of({"gone.jpg"}); },
              ThrowsMessage<IoError>(HasSubstr("gone.jpg: cannot read")));
  EXPECT_THAT([&] { (void)Of({"*.jpg"}); },
              ThrowsMessage<UsageError>(HasSubstr("leave out the quotes")));
  folder_.Folder("empty");
  EXPECT_THAT([&] { (void)Of({"empty"}); },
              ThrowsMessage<UsageError>(HasSubstr("no image and no shard")));
  const std::vector<std::string> mixed = {"d.jpg", "shards"};
  EXPECT_THAT([&] { (void)Of(mixed); },
              ThrowsMessage<UsageError>(HasSubstr("one kind at a time")));
}

TEST_F(PredictInputTest, TakesTheTestSplitElseValidation) {
  EXPECT_THAT(RecordsOfSplit(folder_ / "shards", "auto").shards(),
              ElementsAre(folder_ / "shards/test-00000-of-00001"));
  EXPECT_THAT(RecordsOfSplit(folder_ / "shards", "train").shards(),
              ElementsAre(folder_ / "shards/train-00000-of-00001"));
  EXPECT_THAT(RecordsOfSplit(folder_ / "val", "auto").shards(),
              ElementsAre(folder_ / "val/validation-00000-of-00001"));
  EXPECT_THAT([&] { (void)RecordsOfSplit(folder_ / "val", "train"); },
              ThrowsMessage<UsageError>(HasSubstr(
                  "no images of split='train'; there is validation")));
  EXPECT_THAT([&] { (void)RecordsOfSplit(folder_ / "cats", "auto"); },
              ThrowsMessage<UsageError>(HasSubstr("images directly in it")));
}

}  // namespace
}  // namespace infeed
