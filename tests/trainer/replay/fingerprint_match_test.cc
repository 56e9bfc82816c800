#include "trainer/replay/fingerprint_match.h"

#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::fingerprint_match_test {

using Fingerprints = std::vector<HistoryFingerprint>;

TEST(FingerprintMatchTest, EqualRunsAreEqualUpToTheEndOfTheShorterOne) {
  const Fingerprints a = {{10, 1}, {20, 2}, {30, 3}};
  const FingerprintMatch match =
      MatchFingerprints(a, Fingerprints{{10, 1}, {20, 2}});
  EXPECT_TRUE(match.is_equal());
  EXPECT_EQ(match.equal_steps, 20);
  EXPECT_FALSE(match.has_pixels);
}

TEST(FingerprintMatchTest, TheFirstLoopThatDiffersIsFound) {
  const Fingerprints a = {{10, 1}, {20, 2}, {30, 3}};
  const FingerprintMatch match =
      MatchFingerprints(a, Fingerprints{{10, 1}, {20, 7}, {30, 3}});
  EXPECT_FALSE(match.is_equal());
  EXPECT_EQ(match.equal_steps, 10);
  EXPECT_EQ(match.differs_by, 20);
  EXPECT_EQ(MatchFingerprints(a, Fingerprints{{10, 0}}).equal_steps, 0);
}

TEST(FingerprintMatchTest, LoopsOfOtherLengthsAreComparedAtCommonSteps) {
  const Fingerprints a = {{4, 4}, {8, 8}, {12, 12}, {16, 16}, {24, 24}};
  const Fingerprints b = {{6, 6}, {12, 12}, {18, 18}, {24, 99}};
  const FingerprintMatch match = MatchFingerprints(a, b);
  EXPECT_EQ(match.equal_steps, 12);
  EXPECT_EQ(match.differs_by, 24);
  EXPECT_EQ(MatchFingerprints(b, a).differs_by, 24);
}

TEST(FingerprintMatchTest, RunsWithoutACommonStepAreRefused) {
  EXPECT_THAT(MessageOf<UsageError>([] {
                (void)MatchFingerprints(Fingerprints{{4, 1}, {8, 2}},
                                        Fingerprints{{5, 1}});
              }),
              HasSubstr("no step at which a loop of both runs ended"));
  // Both were also stopped before their first step.
  EXPECT_THROW((void)MatchFingerprints(Fingerprints{{0, 0}, {4, 1}},
                                       Fingerprints{{0, 0}, {5, 1}}),
               UsageError);
}

TEST(FingerprintMatchTest, HashesOfOtherKindsAreRefused) {
  const Fingerprints with = {{.step = 4, .value = 1, .has_pixels = true}};
  EXPECT_TRUE(MatchFingerprints(with, with).has_pixels);
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)MatchFingerprints(with, Fingerprints{{4, 1}});
              }),
              HasSubstr("input_hash"));
}

}  // namespace infeed::fingerprint_match_test
