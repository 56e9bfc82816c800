#include "trainer/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/throws.h"

namespace infeed {
namespace manifest_test {

using testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  return MessageOf<DataError>([&] { (void)ParseManifest(text); });
}

TEST(ManifestTest, WritesOneLine) {
  EXPECT_EQ(
      BuildManifest(
          {.step = 7,
           .files = {{.name = "a", .sum = {.size = 3, .crc32c = 0x364b3fb7}}}}),
      R"({"schema":1,"step":7,"files":[{"file":"a","size":3,)"
      R"("crc32c":"364b3fb7"}]})"
      "\n");
}

TEST(ManifestTest, ReadsWhatItWrote) {
  const std::string text = BuildManifest(
      {.step = 7,
       .files = {{.name = "a", .sum = {.size = 3, .crc32c = 10}},
                 {.name = "b", .sum = {.size = 0, .crc32c = 0xFFFFFFFF}}}});
  const Manifest manifest = ParseManifest(text);
  EXPECT_EQ(manifest.step, 7);
  ASSERT_EQ(manifest.files.size(), 2U);
  EXPECT_EQ(manifest.files[1].name, "b");
  EXPECT_EQ(manifest.files[1].sum.crc32c, 0xFFFFFFFF);
}

TEST(ManifestTest, RefusesWhatIsNotAManifest) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a manifest"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("not a manifest"));
  EXPECT_THAT(ErrorOf(R"({"schema":1})"), HasSubstr("not a manifest"));
  EXPECT_THAT(ErrorOf(R"({"schema":1,"step":"x"})"),
              HasSubstr("not a manifest"));
}

TEST(ManifestTest, RefusesAnotherSchema) {
  EXPECT_THAT(ErrorOf(R"({"schema":2})"), HasSubstr("another version"));
}

TEST(ManifestTest, RefusesAChecksumThatIsNoNumber) {
  EXPECT_THAT(ErrorOf(R"({"schema":1,"step":7,"files":[{"file":"a","size":3,)"
                      R"("crc32c":"x"}]})"),
              HasSubstr("a checksum is not a number"));
}

TEST(ManifestTest, RefusesTooManyFiles) {
  Manifest manifest;
  manifest.files.resize(17);
  EXPECT_THAT(ErrorOf(BuildManifest(manifest)), HasSubstr("too many files"));
}

TEST(ManifestTest, RefusesAnyOtherSpelling) {
  std::string text = BuildManifest({.step = 7, .files = {}});
  text.insert(1, " ");
  EXPECT_THAT(ErrorOf(text), HasSubstr("changed since it was written"));
}

}  // namespace manifest_test
}  // namespace infeed
