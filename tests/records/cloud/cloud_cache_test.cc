#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/object_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

// The local copies of shards: they save requests, stay under their cap and
// never hold other bytes than the store does now.
namespace infeed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CloudCacheTest : public CloudFixture {
 protected:
  CloudCacheTest() {
    settings_.cache_folder = folder_ / "cache";
    SetCloudSettings(settings_);
    for (const std::string name : {"a", "b", "c"}) {
      server_.Put("shards/" + name, MadeBytes(kBytes, name[0]));
    }
  }

  static std::string Url(const std::string& name) {
    return "s3://shards/" + name;
  }
  [[nodiscard]] bool Reads(const std::string& name) const {
    return ReadAll(Url(name)) == server_.Get("shards/" + name);
  }
  [[nodiscard]] std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry :
         fs::recursive_directory_iterator(folder_ / "cache")) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path());
      }
    }
    return files;
  }
  [[nodiscard]] std::uintmax_t Bytes() const {
    std::uintmax_t bytes = 0;
    for (const fs::path& file : Files()) {
      bytes += fs::file_size(file);
    }
    return bytes;
  }

  static constexpr std::size_t kBytes = 300'000;
  TemporaryFolder folder_;
};

TEST_F(CloudCacheTest, TheSecondReadOnlyLooksWhetherItIsStillTheSame) {
  EXPECT_TRUE(Reads("a"));
  server_.ClearLog();
  EXPECT_TRUE(Reads("a"));
  const RequestLog log = server_.log();
  EXPECT_EQ(log.Count("HEAD"), 1);
  EXPECT_EQ(log.requests.size(), 1U);
}

TEST_F(CloudCacheTest, WhatIsReplacedIsReadAnew) {
  EXPECT_TRUE(Reads("a"));
  server_.Put("shards/a", MadeBytes(kBytes, 99));
  EXPECT_TRUE(Reads("a"));
}

TEST_F(CloudCacheTest, TheLeastRecentlyUsedGoFirst) {
  settings_.cache_bytes = 2 * kBytes + 10'000;
  SetCloudSettings(settings_);
  for (const char* name : {"a", "b", "a", "c"}) {
    EXPECT_TRUE(Reads(name));
    EXPECT_LE(Bytes(), static_cast<std::uintmax_t>(settings_.cache_bytes));
  }
  server_.ClearLog();
  EXPECT_TRUE(Reads("a"));
  EXPECT_EQ(server_.log().Count("GET"), 0);
  EXPECT_TRUE(Reads("b"));
  EXPECT_GT(server_.log().Count("GET"), 0);
}

TEST_F(CloudCacheTest, WhatIsLargerThanTheCapIsReadWithoutIt) {
  settings_.cache_bytes = kBytes / 2;
  SetCloudSettings(settings_);
  EXPECT_TRUE(Reads("a"));
  EXPECT_LE(Bytes(), static_cast<std::uintmax_t>(settings_.cache_bytes));
}

TEST_F(CloudCacheTest, NothingIsRemovedForWhatCannotFit) {
  settings_.cache_bytes = kBytes + 10'000;
  SetCloudSettings(settings_);
  EXPECT_TRUE(Reads("a"));
  server_.Put("shards/big", MadeBytes(2 * kBytes));
  EXPECT_TRUE(Reads("big"));
  server_.ClearLog();
  EXPECT_TRUE(Reads("a"));
  EXPECT_EQ(server_.log().Count("GET"), 0);
}

TEST_F(CloudCacheTest, ADownloadThatFailsLeavesNoCopy) {
  server_.SetFaults(
      R"({"fault": "status", "status": 403, "ranged": true, "skip": 2})");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadAll(Url("a")); }),
              HasSubstr("403"));
  server_.SetFaults("");
  EXPECT_TRUE(Reads("a"));
}

TEST_F(CloudCacheTest, AnObjectThatIsReplacedWhileItIsCopiedIsAnError) {
  server_.SetFaults(
      R"({"fault": "replace", "ranged": true, "skip": 2, "next": 1})");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadAll(Url("a")); }),
              HasSubstr("replaced"));
  EXPECT_TRUE(Reads("a"));
}

TEST_F(CloudCacheTest, ACopyThatIsCutShortIsNotUsed) {
  EXPECT_TRUE(Reads("a"));
  for (const fs::path& file : Files()) {
    if (fs::file_size(file) >= kBytes) {
      fs::resize_file(file, kBytes / 2);
    }
  }
  EXPECT_TRUE(Reads("a"));
}

TEST_F(CloudCacheTest, AFolderThatCannotBeUsedIsToldOnceAndDoesNoHarm) {
  std::ofstream(folder_ / "file") << "no folder";
  settings_.cache_folder = folder_ / "file";
  std::vector<std::string> warnings;
  settings_.on_warning = [&](const std::string& text) {
    warnings.push_back(text);
  };
  SetCloudSettings(settings_);
  EXPECT_TRUE(Reads("a"));
  EXPECT_TRUE(Reads("b"));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr(folder_ / "file"));
}

}  // namespace
}  // namespace infeed
