#include "records/files/side_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/writer.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::side_file_test {

namespace fs = std::filesystem;

// A shard of a stranger.
class SideFileTest : public ::testing::Test {
 protected:
  SideFileTest() : cache_("XDG_CACHE_HOME", folder_ / "cache") {
    fs::create_directory(folder_ / "data");
    TfrecordWriter writer(shard());
    writer.Append(std::string_view("one"));
    writer.Close();
    WriteFileAtomically(folder_ / "thesis", "thesis");
  }

  [[nodiscard]] std::string shard() const { return folder_ / "data/train"; }
  [[nodiscard]] std::string Thesis() const {
    return ReadWholeFile(folder_ / "thesis", 100);
  }
  // Returns the path of the index.
  [[nodiscard]] std::string Save() const {
    return SaveIndex(FileSource(shard()), {0, 19});
  }

  const TemporaryFolder folder_;
  const EnvironmentVariable cache_;
};

TEST_F(SideFileTest, ReplacesALink) {
  fs::create_directory(folder_ / "data/.infeed");
  for (const char* target : {"thesis", "made"}) {
    fs::remove(folder_ / "data/.infeed/train.index");
    fs::create_symlink(folder_ / target, folder_ / "data/.infeed/train.index");
    const std::string path = Save();
    EXPECT_FALSE(fs::is_symlink(path));
    EXPECT_THAT(ReadWholeFile(path, 1000), HasSubstr("infeedIX"));
  }
  EXPECT_EQ(Thesis(), "thesis");
  EXPECT_FALSE(fs::exists(folder_ / "made"));
}

TEST_F(SideFileTest, UsesNoFolderThatIsALink) {
  fs::create_directory(folder_ / "mine");
  fs::create_directory_symlink(folder_ / "mine", folder_ / "data/.infeed");
  EXPECT_THAT(Save(), StartsWith(folder_ / "cache/infeed/"));
  EXPECT_TRUE(fs::is_empty(folder_ / "mine"));
  EXPECT_THAT(MessageOf<IoError>([&] {
                PublishIndex(FileSource(shard()), {0, 19});
              }),
              HasSubstr("data/.infeed: is a symbolic link"));
}

TEST_F(SideFileTest, ReadsOnlyRegularFiles) {
  fs::create_directory(folder_ / "data/.infeed");
  const std::string path = folder_ / "data/.infeed/train.index";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(FindIndex(FileSource(shard())).has_value());
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  EXPECT_FALSE(FindIndex(FileSource(shard())).has_value());
}

TEST_F(SideFileTest, ADryRunHasNone) {
  {
    const WithoutSideFiles none;
    EXPECT_THROW((void)SideFolder(folder_ / "data"), IoError);
    EXPECT_THROW((void)CachedSideFolder(folder_ / "data"), IoError);
    EXPECT_THROW((void)Save(), IoError);
    EXPECT_FALSE(fs::exists(folder_ / "data/.infeed"));
    EXPECT_FALSE(fs::exists(folder_ / "cache"));
  }
  EXPECT_EQ(SideFolder(folder_ / "data"), folder_ / "data/.infeed");
}

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

// As a web server's file without an ETag and a time.
class UnversionedSource final : public ByteSource {
 public:
  explicit UnversionedSource(std::string path) : ByteSource(std::move(path)) {
    set_version(kNoVersion);
  }
  [[nodiscard]] std::size_t ReadAt(std::int64_t,
                                   std::span<std::byte>) const override {
    return 0;
  }
};

TEST_F(SideFormatTest, NothingIsKeptOfASourceWithoutAVersion) {
  const UnversionedSource source(data_);
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)SaveSideFile(source, ".x", kMagic, "payload"); }),
              HasSubstr("neither an ETag nor Last-Modified"));
  WriteSideFile(file_, kMagic, SideSource::Of(source), "payload");
  EXPECT_FALSE(FindSideFile(source, ".x", kMagic, PayloadOf).has_value());
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

}  // namespace infeed::side_file_test
