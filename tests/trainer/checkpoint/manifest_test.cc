#include "trainer/checkpoint/manifest.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {

namespace manifest_test {

std::string ErrorOf(std::string_view text) {
  return MessageOf<DataError>([&] { (void)ParseManifest(text); });
}

TEST(ManifestTest, ReadsTheLineThatItWrote) {
  EXPECT_EQ(
      BuildManifest(
          {.step = 7,
           .files = {{.name = "a", .sum = {.size = 3, .crc32c = 0x364b3fb7}}}}),
      R"({"schema":1,"step":7,"files":[{"file":"a","size":3,)"
      R"("crc32c":"364b3fb7"}]})"
      "\n");
  const Manifest manifest = ParseManifest(BuildManifest(
      {.step = 7,
       .files = {{.name = "a", .sum = {.size = 3, .crc32c = 10}},
                 {.name = "b", .sum = {.size = 0, .crc32c = 0xFFFFFFFF}}}}));
  EXPECT_EQ(manifest.step, 7);
  ASSERT_EQ(manifest.files.size(), 2U);
  EXPECT_EQ(manifest.files[1].name, "b");
  EXPECT_EQ(manifest.files[1].sum.crc32c, 0xFFFFFFFF);
}

TEST(ManifestTest, RefusesWhatIsNotAManifest) {
  const std::string text = BuildManifest({.step = 7, .files = {}});
  Manifest many;
  many.files.resize(17);
  for (const auto& [manifest, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "not a manifest"},
           {"[]", "not a manifest"},
           {R"({"schema":1})", "not a manifest"},
           {R"({"schema":1,"step":"x"})", "not a manifest"},
           {R"({"schema":2})", "another version"},
           {R"({"schema":1,"step":7,"files":[{"file":"a","size":3,)"
            R"("crc32c":"x"}]})",
            "a checksum is not a number"},
           {BuildManifest(many), "too many files"},
           {text.substr(0, 1) + " " + text.substr(1),
            "changed since it was written"}}) {
    EXPECT_THAT(ErrorOf(manifest), HasSubstr(why)) << manifest;
  }
}

}  // namespace manifest_test

namespace run_state_test {

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
  checkpoint.fingerprint = 0xFEDCBA9876543210;
  checkpoint.identity = {{"recipe", "\"plain\""}, {"seed", "7"}};
  const Checkpoint read = ParseRunState(BuildRunState(checkpoint));
  EXPECT_EQ(read.fingerprint, checkpoint.fingerprint);
  EXPECT_EQ(read.step, 12);
  EXPECT_EQ(read.stream, checkpoint.stream);
  EXPECT_EQ(read.identity, checkpoint.identity);
}

TEST(RunStateTest, RefusesWhatIsNotAState) {
  for (const auto& [state, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "not a run's state"},
           {"{}", "not a run's state"},
           {std::string(200'000, '['), "nested more than 32 levels deep"},
           {With("\"step\"", "\"stop\""), "a value is missing"},
           {With("\"identity\": {}", "\"identity\": 1"), "not a run's state"},
           {With("\"schema\": 1", "\"schema\": 2"), "another version"},
           {With("0000000000000000", "000000000000000"), "16 hexadecimal"},
           {With("\"position\": 0", "\"position\": -1"),
            "position is negative"}}) {
    EXPECT_THAT(ErrorOf(state), HasSubstr(why)) << why;
  }
}

}  // namespace run_state_test

}  // namespace infeed
