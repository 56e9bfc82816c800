#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/throws.h"
#include "tools/images/raw_images.h"

namespace infeed::idx_file_test {

std::string Values(const IdxFile& file) {
  std::string values(static_cast<std::size_t>(file.bytes->size() - file.first),
                     '\0');
  EXPECT_EQ(
      file.bytes->ReadAt(file.first, std::as_writable_bytes(std::span(values))),
      values.size());
  return values;
}

std::string ErrorOf(std::string_view bytes, int dimensions = 3) {
  return MessageOf<DataError>([&] {
    (void)OpenIdx(std::make_shared<MemorySource>("x", std::string(bytes)),
                  dimensions);
  });
}

TEST(IdxFileTest, ReadsPlainAndPackedFiles) {
  const std::string bytes = IdxBytes({2, 3, 1}, "abcdef");
  ImageFolder raw;
  raw.File("plain", bytes).File("packed", Gzipped(bytes));
  for (const char* name : {"plain", "packed"}) {
    const IdxFile file = OpenIdx(std::make_shared<FileSource>(raw / name), 3);
    EXPECT_THAT(file.sizes, ElementsAre(2, 3, 1));
    EXPECT_EQ(Values(file), "abcdef");
    EXPECT_EQ(file.bytes->path(), raw / name);
  }
}

TEST(IdxFileTest, RefusesFilesOfOtherKinds) {
  const std::string bytes = IdxBytes({2, 3, 1}, "abcdef");
  EXPECT_THAT(ErrorOf(bytes, 1),
              EndsWith("not an IDX file of bytes with 1 dimensions"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not an IDX file"));
  EXPECT_THAT(ErrorOf(bytes.substr(0, 15)), HasSubstr("not an IDX file"));
  std::string floats = bytes;
  floats[2] = 13;
  EXPECT_THAT(ErrorOf(floats), HasSubstr("not an IDX file"));
}

TEST(IdxFileTest, RefusesMoreOrFewerBytesThanTheHeaderSays) {
  EXPECT_THAT(
      ErrorOf(IdxBytes({2, 3, 1}, "abcde")),
      EndsWith(
          "x: its header says 2x3x1 values, 22 bytes in all, but it has 21"));
  EXPECT_THAT(ErrorOf(IdxBytes({2, 3, 1}, "abcdefg")), EndsWith("it has 23"));
  EXPECT_THAT(ErrorOf(Gzipped(IdxBytes({2, 3, 1}, "abcde"))),
              EndsWith("it has 21"));
  EXPECT_THAT(ErrorOf(Gzipped(IdxBytes({2, 3, 1}, "abcdefg"))),
              EndsWith("it has more"));
}

// Allocating these would fail the test.
TEST(IdxFileTest, RefusesClaimsBeforeItAllocates) {
  constexpr std::uint32_t kHuge = 0xffffffff;
  EXPECT_THAT(ErrorOf(IdxBytes({kHuge, kHuge, kHuge}, "")),
              EndsWith("which is invalid"));
  EXPECT_THAT(ErrorOf(IdxBytes({0, 28, 28}, "")), EndsWith("which is invalid"));
  EXPECT_THAT(ErrorOf(Gzipped(IdxBytes({1U << 19, 1U << 10, 1U << 10}, "ab"))),
              EndsWith(" packed ones"));
}

TEST(IdxFileTest, LimitsWhatItUnpacks) {
  std::string packed = Gzipped(IdxBytes({1U << 23, 1U << 10, 1}, "ab"));
  packed.resize(std::size_t{9} << 20);  // more could be in there
  EXPECT_THAT(ErrorOf(packed),
              EndsWith("too many for memory: unpack it first"));
}

TEST(IdxFileTest, UnpacksMoreThanOneStep) {
  const std::string values = Counting(3000000);
  const IdxFile file = OpenIdx(
      std::make_shared<MemorySource>("x", Gzipped(IdxBytes({3000000}, values))),
      1);
  EXPECT_EQ(Values(file), values);
}

TEST(IdxFileTest, NamesAPackedFileThatIsDamaged) {
  std::string packed = Gzipped(IdxBytes({2, 3, 1}, "abcdef"));
  EXPECT_THAT(ErrorOf(packed.substr(0, packed.size() - 4)), HasSubstr("x: "));
  packed[packed.size() - 6] ^= 1;
  EXPECT_THAT(ErrorOf(packed), HasSubstr("cannot be unpacked"));
}

}  // namespace infeed::idx_file_test
