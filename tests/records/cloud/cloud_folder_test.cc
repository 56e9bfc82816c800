#include <cstdint>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/cloud/object_store.h"
#include "records/files/dataset_info.h"
#include "records/files/folder_listing.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

// Lists the "folders" of buckets, and reads small objects whole.
namespace infeed {
namespace {

std::vector<std::string> NamesOf(const std::vector<FolderEntry>& entries) {
  std::vector<std::string> names;
  for (const FolderEntry& entry : entries) {
    names.push_back(entry.name);
  }
  return names;
}

class CloudFolderTest : public CloudFixture {
 protected:
  CloudFolderTest() : CloudFixture({"--max_list=2"}) {
    for (const char* name :
         {"b.jpg", "a.PNG", "a%20%25%C3%A4.jpg", "notes.txt", ".hidden.jpg",
          "dog/1.jpg", "cat/1.jpg", ".git/1.jpg", ""}) {
      server_.Put(std::string("shards/raw/") + name, "12345");
    }
  }
};

TEST_F(CloudFolderTest, HasWhatAFolderOnADiskHas) {
  for (const char* url : {"s3://shards/raw", "s3://shards/raw/"}) {
    const FolderListing listing = ListFolder(url);
    EXPECT_THAT(listing.folders, ElementsAre("cat", "dog"));
    EXPECT_THAT(NamesOf(listing.images),
                ElementsAre("a %\xC3\xA4.jpg", "a.PNG", "b.jpg"));
    EXPECT_THAT(listing.ignored,
                ElementsAre(".git", ".hidden.jpg", "notes.txt"));
  }
}

TEST_F(CloudFolderTest, KnowsTheStateOfEachImage) {
  const FolderEntry image = ListFolder("s3://shards/raw").images.back();
  const ObjectInfo info = SharedObjectStore()->Stat("s3://shards/raw/b.jpg");
  EXPECT_EQ(image.bytes, 5);
  ASSERT_NE(image.object, nullptr);
  EXPECT_EQ(image.object->size, 5);
  EXPECT_EQ(image.object->etag, info.etag);
  EXPECT_EQ(image.object->version(), info.version());
}

TEST_F(CloudFolderTest, RefusesWhatIsNotThere) {
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ListFolder("s3://shards/rawer"); }),
      AllOf(HasSubstr("s3://shards/rawer"), HasSubstr("no such folder")));
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ListFolder("s3://no-such-bucket/raw"); }),
      HasSubstr("404"));
}

TEST_F(CloudFolderTest, SmallObjectsAreReadWhole) {
  constexpr std::int64_t kLimit = 5;
  EXPECT_EQ(ReadWhole("s3://shards/raw/notes.txt", kLimit), "12345");
  EXPECT_EQ(ReadWholeIfThere("s3://shards/raw/notes.txt", kLimit), "12345");
  EXPECT_EQ(ReadWholeIfThere("s3://shards/raw/none.txt", kLimit), std::nullopt);
  EXPECT_THAT(MessageOf<IoError>(
                  [] { (void)ReadWhole("s3://shards/raw/none.txt", kLimit); }),
              HasSubstr("no such object"));
  EXPECT_THAT(MessageOf<IoError>([] {
                (void)ReadWhole("s3://shards/raw/notes.txt", kLimit - 1);
              }),
              HasSubstr("more than the limit of 4"));
}

TEST_F(CloudFolderTest, HasADescription) {
  EXPECT_FALSE(ReadDatasetInfo("s3://shards/raw"));
  WriteDatasetInfo("s3://shards/raw/",
                   {.seed = 7, .classes = {"a"}, .splits = {}});
  EXPECT_EQ(ReadDatasetInfo("s3://shards/raw")->seed, 7);
}

TEST_F(CloudFolderTest, HasAClassList) {
  EXPECT_THAT(FindClassList("s3://shards/raw/a.tfrecord"), IsEmpty());
  server_.Put("shards/raw/labels.txt", "cat\ndog\n");
  EXPECT_THAT(FindClassList("s3://shards/raw/a.tfrecord"),
              ElementsAre("cat", "dog"));
  EXPECT_THAT(FindClassList("s3://shards/raw/train/a.tfrecord"),
              ElementsAre("cat", "dog"));
}

TEST_F(CloudFolderTest, RefusesShardsOfAnotherSizeThanListed) {
  const std::string name = "train-00000-of-00001";
  server_.Put("shards/set/" + name, "12345");
  const auto describe = [&](std::int64_t bytes) {
    WriteDatasetInfo("s3://shards/set",
                     {.splits = {{.name = "train",
                                  .records = 1,
                                  .shards = {{name, 1, bytes, "00000000"}}}}});
  };
  describe(5);
  EXPECT_THAT(FindSplit("s3://shards/set", "train"), SizeIs(1));
  describe(9);
  const auto refusal = [](const auto& list) {
    return MessageOf<DataError>([&] { (void)list(); });
  };
  const std::string text =
      "1 shard differs from dataset.json: "
      "s3://shards/set/train-00000-of-00001 (5 bytes, "
      "not 9)";
  EXPECT_THAT(refusal([] { return FindSplit("s3://shards/set", "train"); }),
              StartsWith(text));
  EXPECT_THAT(refusal([] { return ListShards("s3://shards/set"); }),
              StartsWith(text));
  EXPECT_THAT(refusal([] { return ListShards("s3://shards/set/train-*"); }),
              StartsWith(text));
}

TEST_F(CloudFolderTest, KeysKeepTheirOddCharacters) {
  const std::string key = "a b&<c>+%25/train-00000-of-00001";
  server_.Put("shards/a%20b%26%3Cc%3E%2B%2525/train-00000-of-00001", "bytes");
  EXPECT_THAT(ListShards("s3://shards/a b&<c>+%25/train-*"),
              ElementsAre("s3://shards/" + key));
  EXPECT_EQ(ReadAll("s3://shards/" + key), "bytes");
}

TEST(ReadWholeTest, TakesFiles) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "small", "text");
  EXPECT_EQ(ReadWhole(folder / "small", 4), "text");
  EXPECT_EQ(ReadWholeIfThere(folder / "small", 4), "text");
  EXPECT_EQ(ReadWholeIfThere(folder / "none", 4), std::nullopt);
  EXPECT_THROW((void)ReadWhole(folder / "none", 4), IoError);
}

}  // namespace
}  // namespace infeed
