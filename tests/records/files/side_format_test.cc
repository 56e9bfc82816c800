#include "records/files/side_format.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "records/bytes/byte_source.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace side_format_test {

using ::testing::Optional;

constexpr std::string_view kMagic = "infeedXX";

std::optional<std::string> PayloadOf(const SideFile& file) {
  return file.payload;
}

class SideFormatTest : public ::testing::Test {
 protected:
  SideFormatTest() : cache_("XDG_CACHE_HOME", folder_ / "cache") {
    WriteFileAtomically(data_, "data");
  }
  [[nodiscard]] std::optional<std::string> Find() const {
    return FindSideFile(FileSource(data_), ".x", kMagic, PayloadOf);
  }

  const TemporaryFolder folder_;
  const EnvironmentVariable cache_;
  const std::string data_ = folder_ / "data";
  const std::string file_ = folder_ / ".infeed/data.x";
};

TEST_F(SideFormatTest, APayloadIsFoundForItsSource) {
  EXPECT_FALSE(Find().has_value());
  for (const std::string payload : {"", "payload"}) {
    EXPECT_EQ(SaveSideFile(FileSource(data_), ".x", kMagic, payload), file_);
    EXPECT_THAT(Find(), Optional(payload));
  }
  std::filesystem::last_write_time(data_, {});
  EXPECT_FALSE(Find().has_value());
  EXPECT_EQ(ReadSideFile(file_, kMagic)->payload, "payload");
  EXPECT_FALSE(ReadSideFile(file_, "infeedYY").has_value());
}

TEST_F(SideFormatTest, AFileThatIsNotUsedHidesNoOther) {
  const FileSource source(data_);
  WriteSideFile(SidePaths(data_, ".x").back(), kMagic, SideSource::Of(source),
                "other");
  EXPECT_THAT(Find(), Optional(std::string("other")));
  WriteSideFile(file_, kMagic, {.size = source.size()}, "stale");
  EXPECT_THAT(Find(), Optional(std::string("other")));
  SaveSideFile(source, ".x", kMagic, "refused");
  const auto decode = [](const SideFile& file) {
    return file.payload == "refused" ? std::nullopt : PayloadOf(file);
  };
  EXPECT_THAT(FindSideFile(source, ".x", kMagic, decode),
              Optional(std::string("other")));
}

TEST_F(SideFormatTest, ADamagedFileCountsAsAbsent) {
  SaveSideFile(FileSource(data_), ".x", kMagic, "payload");
  const std::string whole = ReadWholeFile(file_, 1000);
  EXPECT_EQ(whole.size(), 7 + kSideTrailerBytes);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    for (const std::string& text : {damaged, whole.substr(0, i)}) {
      std::ofstream(file_, std::ios::binary) << text;
      EXPECT_FALSE(ReadSideFile(file_, kMagic).has_value()) << i;
    }
  }
  std::ofstream(file_, std::ios::binary) << whole << '\0';
  EXPECT_FALSE(ReadSideFile(file_, kMagic).has_value());
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 40);
  EXPECT_FALSE(ReadSideFile(file_, kMagic).has_value());
}

}  // namespace side_format_test
}  // namespace infeed
