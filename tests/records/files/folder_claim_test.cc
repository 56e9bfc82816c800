#include "records/files/folder_claim.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using Kind = FolderClaim::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

TEST(FolderClaimTest, MakesItsFolderAndLeavesNothingInIt) {
  const TemporaryFolder folder;
  { const FolderClaim claim(folder / "new", "lock", Kind::kAlone); }
  { const FolderClaim claim(folder / "new", "lock", Kind::kShared); }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "new"));
}

}  // namespace
}  // namespace infeed
