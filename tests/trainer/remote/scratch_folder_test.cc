#include "trainer/remote/scratch_folder.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, BelongsToItsUrl) {
  const TemporaryFolder base;
  const ScratchFolder a = ScratchFolder::OfUrl(base.path(), "gs://bucket/a_b");
  const ScratchFolder b = ScratchFolder::OfUrl(base.path(), "gs://bucket/a/b");
  EXPECT_NE(a.path(), b.path());
  EXPECT_THAT(a.path(), HasSubstr("gs___bucket_a_b-"));
}

TEST(ScratchFolderTest, OneProcessAtATimeHasIt) {
  const TemporaryFolder base;
  std::string path;
  {
    const ScratchFolder first =
        ScratchFolder::OfUrl(base.path(), "s3://bucket/model/");
    EXPECT_THAT(
        [&] { (void)ScratchFolder::OfUrl(base.path(), "s3://bucket/model"); },
        ThrowsMessage<UsageError>(
            AllOf(HasSubstr("model_dir=s3://bucket/model"),
                  HasSubstr("another process"))));
    path = first.path();
  }
  EXPECT_EQ(ScratchFolder::OfUrl(base.path(), "s3://bucket/model").path(),
            path);
}

TEST(ScratchFolderTest, OneOfAProcessGoesWithItUnlessKept) {
  const TemporaryFolder base;
  std::string gone;
  std::string kept;
  {
    const ScratchFolder a = ScratchFolder::OfThisProcess(base.path());
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
  std::string idle;
  std::string waits;
  {
    ScratchFolder first = ScratchFolder::OfThisProcess(base.path());
    ScratchFolder second = ScratchFolder::OfThisProcess(base.path());
    first.Keep();
    second.Keep();
    idle = first.path();
    waits = second.path();
    MakeFolder(second.outbox() + "/export-1");
  }
  MakeFolder(base / "gs___bucket_model-0/model");
  const ScratchFolder used = ScratchFolder::OfThisProcess(base.path());
  const ScratchFolder next = ScratchFolder::OfThisProcess(base.path());
  EXPECT_TRUE(fs::exists(used.path()));
  EXPECT_FALSE(fs::exists(idle));
  EXPECT_TRUE(fs::exists(waits + "/outbox/export-1"));
  EXPECT_TRUE(fs::exists(base / "gs___bucket_model-0/model"));
}

TEST(ScratchFolderTest, LeavesFoldersOfOthersAlone) {
  const TemporaryFolder base;
  MakeFolder(base / "process-notes");
  WriteFileAtomically(base / "process-notes/thesis.txt", "years of work");
  MakeFolder(base / "process-locked");
  WriteFileAtomically(base / "process-locked/lock", "somebody else's");
  const ScratchFolder used = ScratchFolder::OfThisProcess(base.path());
  EXPECT_TRUE(fs::exists(base / "process-notes/thesis.txt"));
  EXPECT_FALSE(fs::exists(base / "process-notes/lock"));
  EXPECT_TRUE(fs::exists(base / "process-locked/lock"));
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
