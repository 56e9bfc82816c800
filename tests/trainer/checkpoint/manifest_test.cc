#include "trainer/checkpoint/manifest.h"

#include <string>

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

namespace run_state_test {

using testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  return MessageOf<DataError>([&] { (void)ParseRunState(text); });
}

// The state with one piece of its text replaced.
std::string With(std::string_view from, std::string_view to) {
  std::string text = BuildRunState({});
  return text.replace(text.find(from), from.size(), to);
}

TEST(RunStateTest, ReadsWhatItWrote) {
  Checkpoint checkpoint;
  checkpoint.step = 12;
  checkpoint.stream = {.epoch = 4'000'000'000,
                       .position = 1'000'000'000'000,
                       .past_epochs = 3'999'999'999};
  checkpoint.identity = {{"recipe", "\"plain\""}, {"seed", "7"}};
  const Checkpoint read = ParseRunState(BuildRunState(checkpoint));
  EXPECT_EQ(read.step, 12);
  EXPECT_EQ(read.stream, checkpoint.stream);
  EXPECT_EQ(read.identity, checkpoint.identity);
}

TEST(RunStateTest, RefusesWhatIsNotAState) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a run's state"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("not a run's state"));
  EXPECT_THAT(ErrorOf(std::string(200'000, '[')),
              HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(ErrorOf(With("\"step\"", "\"stop\"")),
              HasSubstr("a value is missing"));
  EXPECT_THAT(ErrorOf(With("\"identity\": {}", "\"identity\": 1")),
              HasSubstr("not a run's state"));
}

TEST(RunStateTest, RefusesAnotherSchema) {
  EXPECT_THAT(ErrorOf(With("\"schema\": 1", "\"schema\": 2")),
              HasSubstr("another version"));
}

TEST(RunStateTest, RefusesANegativePosition) {
  EXPECT_THAT(ErrorOf(With("\"position\": 0", "\"position\": -1")),
              HasSubstr("position is negative"));
}

}  // namespace run_state_test

}  // namespace infeed
