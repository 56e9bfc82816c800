#include "trainer/checkpoint/run_state.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/throws.h"

namespace infeed {
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
  checkpoint.stream = {.epoch = 4'000'000'000, .position = 1'000'000'000'000};
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
  EXPECT_THAT(ErrorOf(With("\"step\"", "\"stop\"")), HasSubstr("step"));
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
