#include "records/files/folder_claim.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using Kind = FolderClaim::Kind;

std::string Refusal(const TemporaryFolder& folder, Kind kind) {
  return MessageOf<UsageError>(
      [&] { const FolderClaim claim(folder.path(), "lock", kind); });
}

TEST(FolderClaimTest, IsOneWritersAtATime) {
  const TemporaryFolder folder;
  std::optional<FolderClaim> claim(std::in_place, folder.path(), "lock",
                                   Kind::kAlone);
  for (const Kind kind : {Kind::kAlone, Kind::kShared}) {
    EXPECT_THAT(Refusal(folder, kind),
                AllOf(HasSubstr(folder.path() + ": process " +
                                std::to_string(::getpid()) + " on "),
                      HasSubstr("is writing to it")));
  }
  claim.reset();
  EXPECT_EQ(Refusal(folder, Kind::kAlone), "");
}

TEST(FolderClaimTest, MayBeShared) {
  const TemporaryFolder folder;
  std::optional<FolderClaim> first(std::in_place, folder.path(), "lock",
                                   Kind::kShared);
  std::optional<FolderClaim> second(std::in_place, folder.path(), "lock",
                                    Kind::kShared);
  first.reset();
  EXPECT_THAT(Refusal(folder, Kind::kAlone), HasSubstr("another process"));
  second.reset();
  EXPECT_EQ(Refusal(folder, Kind::kAlone), "");
}

// A lock's file is cut to the name of its process.
TEST(FolderClaimTest, WritesIntoNoFileOfOthers) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "precious", "old");
  std::filesystem::create_symlink(folder / "precious", folder / "link");
  std::filesystem::create_symlink(folder / "made", folder / "dangling");
  std::filesystem::create_hard_link(folder / "precious", folder / "hard");
  for (const char* name : {"link", "dangling", "hard"}) {
    EXPECT_THAT(MessageOf<IoError>([&] {
                  const FolderClaim claim(folder.path(), name, Kind::kAlone);
                }),
                HasSubstr("link"));
  }
  EXPECT_EQ(ReadWholeFile(folder / "precious", 100), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "made"));
}

TEST(FolderClaimTest, MakesItsFolderAndLeavesNothingInIt) {
  const TemporaryFolder folder;
  { const FolderClaim claim(folder / "new", "lock", Kind::kAlone); }
  { const FolderClaim claim(folder / "new", "lock", Kind::kShared); }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "new"));
}

}  // namespace
}  // namespace infeed
