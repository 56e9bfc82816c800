#include "records/files/shard_cache.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/served_object.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Files may have so many bytes, for the length of a test.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    (void)::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// A store of one object of 25 bytes under every name, and a cache for two.
class ShardCacheTest : public ::testing::Test {
 protected:
  ShardCacheTest() { Serve(ServeObject(kBytes)); }
  ~ShardCacheTest() override { SetCloudSettings({}); }

  void Serve(LoopbackServer::Handler handler) {
    server_ = std::make_unique<LoopbackServer>(std::move(handler));
    environment_.Set("AWS_ENDPOINT_URL", server_->url());
    settings_.block_bytes = 10;
    settings_.connections = 2;
    settings_.retry.attempts = 2;
    settings_.retry.first_delay = std::chrono::milliseconds(1);
    settings_.on_warning = [this](const std::string& text) {
      warnings_.push_back(text);
    };
    SetCloudSettings(settings_);
  }
  static std::string ReadAll(const ByteSource& source) {
    std::vector<std::byte> place(100);
    return AsText(std::span(place).first(source.ReadAt(0, place)));
  }
  std::string Read(const std::string& name) {
    return ReadAll(*cache_.Open("s3://b/" + name));
  }
  // The copies and drafts.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(copies_)) {
      const std::string name = entry.path().filename().string();
      if (name != "lock" && name != "CACHEDIR.TAG") {
        files.push_back(entry.path());
      }
    }
    return files;
  }
  std::size_t Gets() const { return RangesAsked(*server_).size(); }

  inline static const std::string kBytes = "twenty-five bytes in all.";
  CloudEnvironment environment_;
  const TemporaryFolder folder_;
  const std::string copies_ = folder_ / "cache/infeed-shard-cache";
  std::vector<std::string> warnings_;
  CloudSettings settings_;
  std::unique_ptr<LoopbackServer> server_;
  ShardCache cache_{folder_ / "cache", 60};
};

TEST_F(ShardCacheTest, DownloadsAWholeShardOnce) {
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_EQ(Gets(), 3);
  const std::size_t asked = server_->requests().size();
  const auto source = cache_.Open("s3://b/a");
  EXPECT_EQ(ReadAll(*source), kBytes);
  EXPECT_EQ(Gets(), 3);
  EXPECT_EQ(server_->requests().size(), asked + 1) << "a HEAD alone";
  EXPECT_EQ(source->path(), "s3://b/a");
  EXPECT_EQ(source->size(), 25);
  EXPECT_THAT(Files(), SizeIs(1));
}

TEST_F(ShardCacheTest, AnotherObjectIsAnotherCopy) {
  const std::int64_t version = cache_.Open("s3://b/a")->version();
  Serve(ServeObject("other bytes", "\"f\""));
  EXPECT_EQ(Read("a"), "other bytes");
  EXPECT_NE(cache_.Open("s3://b/a")->version(), version);
}

TEST_F(ShardCacheTest, ManyDownloadAShardOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    // With a cache of its own, as in a process of its own.
    threads.emplace_back([&] {
      ShardCache cache(folder_ / "cache", 60);
      EXPECT_EQ(ReadAll(*cache.Open("s3://b/a")), kBytes);
    });
  }
  threads.clear();
  EXPECT_EQ(Gets(), 3);
}

TEST(FolderLockTest, AStopEndsTheWaitForAnotherProcess) {
  const TemporaryFolder folder;
  const FolderLock other(folder / "lock", 5);
  const FolderLock elsewhere(folder / "lock", 7);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THROW(FolderLock(folder / "lock", 5, stop.get_token()), StoppedError);
}

TEST(FolderLockTest, AWaitThatMayBeStoppedGetsTheLock) {
  const TemporaryFolder folder;
  auto other = std::make_unique<FolderLock>(folder / "lock", 5);
  std::jthread releaser([&] { other.reset(); });
  const std::stop_source stop;
  const FolderLock mine(folder / "lock", 5, stop.get_token());
  releaser.join();
  EXPECT_EQ(other, nullptr);
}

TEST_F(ShardCacheTest, AFullDiskIsToldOnceAndDoesNoHarm) {
  CacheFolder(folder_ / "cache", 60).Make();
  const FileSizeLimit limit(10);
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot reserve disk space")));
  EXPECT_THAT(Files(), SizeIs(0));
}

TEST_F(ShardCacheTest, RemovesTheLeastRecentlyUsed) {
  (void)Read("a");
  (void)Read("b");
  (void)Read("a");
  (void)Read("c");
  EXPECT_THAT(Files(), SizeIs(2));
  const std::size_t before = Gets();
  (void)Read("a");
  EXPECT_EQ(Gets(), before);
  (void)Read("b");
  EXPECT_EQ(Gets(), before + 3);
}

TEST_F(ShardCacheTest, RemovesNothingThatIsInUse) {
  const auto a = cache_.Open("s3://b/a");
  const auto b = cache_.Open("s3://b/b");
  const auto c = cache_.Open("s3://b/c");
  EXPECT_EQ(ReadAll(*c), kBytes);
  EXPECT_THAT(Files(), SizeIs(2));
  const std::size_t before = Gets();
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_EQ(Read("b"), kBytes);
  EXPECT_EQ(Gets(), before);
}

TEST_F(ShardCacheTest, WhatIsLargerThanTheCacheIsReadFromTheStore) {
  (void)Read("a");
  ShardCache small(folder_ / "cache", 24);
  EXPECT_EQ(ReadAll(*small.Open("s3://b/b")), kBytes);
  EXPECT_THAT(Files(), SizeIs(1)) << "nothing is removed for it";
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ShardCacheTest, ACopyWithOtherBytesIsMadeAnew) {
  (void)Read("a");
  std::fstream(Files().at(0), std::ios::in | std::ios::out) << "X";
  ShardCache later(folder_ / "cache", 60);  // As another process's.
  EXPECT_EQ(ReadAll(*later.Open("s3://b/a")), kBytes);
  EXPECT_EQ(Gets(), 6);
}

TEST_F(ShardCacheTest, ACopyOfAnotherSizeIsMadeAnew) {
  (void)Read("a");
  fs::resize_file(Files().at(0), 5);
  EXPECT_EQ(Read("a"), kBytes);
}

TEST_F(ShardCacheTest, WhatTheStoreRefusesIsAnErrorAndLeavesNothing) {
  for (const auto& [status, text] :
       {std::pair(403, "403"), {412, "was replaced"}}) {
    Serve([status = status,
           serve = ServeObject(kBytes)](const std::string& request) {
      return request.find("bytes=20-24") != std::string::npos
                 ? LoopbackServer::Reply{HttpAnswer(status)}
                 : serve(request);
    });
    EXPECT_THAT(MessageOf<IoError>([&] { (void)Read("a"); }), HasSubstr(text));
    EXPECT_THAT(Files(), SizeIs(0));
  }
}

TEST_F(ShardCacheTest, ADraftThatWasLeftBehindMakesRoom) {
  fs::create_directories(copies_);
  const std::string draft = copies_ + "/0123456789abcdef.tmp-1-1";
  std::ofstream(draft) << std::string(50, 'x');
  EXPECT_EQ(Read("a"), kBytes);  // The draft may be another process's.
  EXPECT_TRUE(fs::exists(draft));
  fs::last_write_time(draft,
                      fs::last_write_time(draft) - std::chrono::hours(2));
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_FALSE(fs::exists(draft));
}

TEST_F(ShardCacheTest, RemovesNoFilesOfTheUsers) {
  fs::create_directory(folder_ / "cache");
  std::ofstream(folder_ / "cache/photos.tar") << std::string(100, 'x');
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(Read(name), kBytes);
  }
  EXPECT_THAT(Files(), SizeIs(2));
  EXPECT_TRUE(fs::exists(folder_ / "cache/photos.tar"));
  // Nor any of another name in its own folder, which counts for nothing.
  std::ofstream(copies_ + "/notes-60-0000000g") << std::string(60, 'x');
  for (const char* name : {"d", "e"}) {
    EXPECT_EQ(Read(name), kBytes);
  }
  EXPECT_THAT(Files(), SizeIs(3));
  EXPECT_TRUE(fs::exists(copies_ + "/notes-60-0000000g"));
}

TEST_F(ShardCacheTest, LeavesAFolderWithOtherFilesAlone) {
  fs::create_directories(copies_);
  std::ofstream(copies_ + "/thesis.txt") << "years of work";
  EXPECT_EQ(Read("a"), kBytes);
  EXPECT_THAT(
      warnings_,
      ElementsAre(HasSubstr("thesis.txt: is not a file of infeed's cache")));
  EXPECT_THAT(Files(), ::testing::ElementsAre(copies_ + "/thesis.txt"));
}

TEST_F(ShardCacheTest, AServerWithoutIdentityIsNotCopied) {
  Serve([](const std::string& request) {
    return LoopbackServer::Reply{
        .bytes = request.starts_with("HEAD")
                     ? "HTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n"
                     : HttpAnswer(206, "x", "Content-Range: bytes 0-0/1\r\n")};
  });
  EXPECT_EQ(Read("a"), "x");
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(ShardCacheTest, IsWhereTheSettingsSay) {
  std::ofstream(folder_ / "file") << "x";
  for (const char* name : {"cache", "file"}) {
    settings_.cache_folder = folder_ / name;
    SetCloudSettings(settings_);
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(ReadAll(*OpenSource("s3://b/a")), kBytes);
    }
  }
  EXPECT_EQ(Gets(), 3 + 2 * 3) << "a file is no folder";
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("local cache"),
                                HasSubstr("cannot create: Not a directory"))));
}

}  // namespace
}  // namespace infeed
