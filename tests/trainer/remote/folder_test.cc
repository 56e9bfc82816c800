#include "trainer/remote/folder.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/remote_files.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class RemoteFolderTest : public RemoteFiles {
 protected:
  [[nodiscard]] std::vector<std::string> Names(
      const std::string& below = "") const {
    std::vector<std::string> names;
    for (const RemoteFile& file : folder_.List(below)) {
      names.push_back(file.name);
    }
    return names;
  }

  RemoteFolder folder_{kUrl, runtime_};
};

TEST_F(RemoteFolderTest, PushesAndPullsFilesOfEverySize) {
  // None, one part, several, and more than is read at once.
  for (const std::size_t size : {0U, 1U, 65'536U, 200'000U, 5'000'000U}) {
    const std::string bytes = MadeBytes(size);
    Write(disk_ / "file", bytes);
    folder_.Push(disk_ / "file", "a/file");
    EXPECT_TRUE(There("a/file") == bytes) << size;
    folder_.Pull("a/file", disk_ / "new/folder/copy");
    EXPECT_TRUE(ReadWholeFile(disk_ / "new/folder/copy", 1 << 24) == bytes)
        << size;
  }
}

TEST_F(RemoteFolderTest, ListsAllDepthsInOrder) {
  for (const char* name : {"b", "eval/2", "a/b/c", "eval/1"}) {
    server_.Put(PlaceOf(name), "four");
  }
  server_.Put("gs-shards/modelled", "another folder's");
  EXPECT_THAT(Names(), ElementsAre("a/b/c", "b", "eval/1", "eval/2"));
  EXPECT_THAT(Names("eval/"), ElementsAre("eval/1", "eval/2"));
  EXPECT_THAT(folder_.Folders(), ElementsAre("a", "eval"));
  EXPECT_EQ(folder_.List("b").front().size, 4);
}

TEST_F(RemoteFolderTest, LeavesNamesOutThatLeadElsewhere) {
  for (const char* name : {"../up", "a/../../up", "fine", "folder/"}) {
    server_.Put(PlaceOf(name), "x");
  }
  EXPECT_THAT(Names(), ElementsAre("fine"));
}

TEST_F(RemoteFolderTest, ReadsAndRemoves) {
  EXPECT_EQ(folder_.ReadText("best.json", 10), std::nullopt);
  server_.Put(PlaceOf("best.json"), "{}");
  EXPECT_EQ(folder_.ReadText("best.json", 10), "{}");
  EXPECT_TRUE(folder_.Has("best.json"));
  EXPECT_THAT([&] { (void)folder_.ReadText("best.json", 1); },
              ThrowsMessage<IoError>(HasSubstr("gs://gs-shards/model/best")));
  folder_.Remove("best.json");
  folder_.Remove("best.json");
  EXPECT_FALSE(folder_.Has("best.json"));
}

TEST_F(RemoteFolderTest, AStopGivesAnUploadUp) {
  Write(disk_ / "file", MadeBytes(200'000));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT([&] { folder_.Push(disk_ / "file", "file", stop.get_token()); },
              ThrowsMessage<IoError>(HasSubstr("stopped")));
  EXPECT_FALSE(IsThere("file"));
}

TEST_F(RemoteFolderTest, APullThatFailsLeavesNothing) {
  server_.Put(PlaceOf("file"), MadeBytes(200'000));
  server_.SetFaults(R"({"fault": "status", "method": "GET"})");
  EXPECT_THROW(folder_.Pull("file", disk_ / "here/file"), IoError);
  EXPECT_TRUE(fs::is_empty(disk_ / "here"));
}

TEST_F(RemoteFolderTest, RefusesWhatIsNoBucket) {
  for (const char* url : {"https://host/model", "ftp://host/model", "gs://"}) {
    EXPECT_THROW(RemoteFolder(url, runtime_), UsageError) << url;
  }
}

}  // namespace
}  // namespace infeed
