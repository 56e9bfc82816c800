#include "trainer/scratch_folder.h"

#include <filesystem>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ScratchFolderTest, BelongsToItsUrl) {
  const TemporaryFolder base;
  const ScratchFolder a = ScratchFolder::OfUrl(base.path(), "gs://bucket/a_b");
  const ScratchFolder b = ScratchFolder::OfUrl(base.path(), "gs://bucket/a/b");
  EXPECT_NE(a.path(), b.path());
  EXPECT_THAT(a.path(), HasSubstr("gs___bucket_a_b-"));
}

TEST(ScratchFolderTest, IsOneProcesssAtATime) {
  const TemporaryFolder base;
  std::optional<ScratchFolder> first(
      ScratchFolder::OfUrl(base.path(), "s3://bucket/model/"));
  EXPECT_THAT(
      [&] { (void)ScratchFolder::OfUrl(base.path(), "s3://bucket/model"); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("model_dir=s3://bucket/model"),
                                      HasSubstr("another process"))));
  const std::string path = first->path();
  first.reset();
  EXPECT_EQ(ScratchFolder::OfUrl(base.path(), "s3://bucket/model").path(),
            path);
}

TEST(ScratchFolderTest, OneOfAProcessGoesWithItUnlessKept) {
  const TemporaryFolder base;
  std::string gone;
  std::string kept;
  {
    ScratchFolder a = ScratchFolder::OfThisProcess(base.path());
    ScratchFolder b = ScratchFolder::OfThisProcess(base.path());
    gone = a.path();
    kept = b.path();
    EXPECT_NE(gone, kept);
    b.Keep();
  }
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(kept));
}

TEST(ScratchFolderTest, LeftoversGoUnlessSomethingInThemWaits) {
  const TemporaryFolder base;
  MakeFolder(base / "process-idle/outbox");
  MakeFolder(base / "process-waits/outbox/export-1");
  MakeFolder(base / "gs___bucket_model-0/model");
  const ScratchFolder used = ScratchFolder::OfThisProcess(base.path());
  const ScratchFolder next = ScratchFolder::OfThisProcess(base.path());
  EXPECT_TRUE(fs::exists(used.path()));
  EXPECT_FALSE(fs::exists(base / "process-idle"));
  EXPECT_TRUE(fs::exists(base / "process-waits/outbox/export-1"));
  EXPECT_TRUE(fs::exists(base / "gs___bucket_model-0/model"));
}

TEST(ScratchFolderTest, LiesInTheUsersCache) {
  const EnvironmentVariable cache("XDG_CACHE_HOME", "/cache");
  EXPECT_EQ(DefaultScratchBase(), "/cache/infeed/runs");
  const EnvironmentVariable none("XDG_CACHE_HOME", "");
  const EnvironmentVariable home("HOME", "/home/me");
  EXPECT_EQ(DefaultScratchBase(), "/home/me/.cache/infeed/runs");
  const EnvironmentVariable homeless("HOME", "");
  EXPECT_THAT([] { (void)DefaultScratchBase(); },
              ThrowsMessage<UsageError>(HasSubstr("--local_scratch_dir")));
}

}  // namespace
}  // namespace infeed
