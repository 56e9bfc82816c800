#include "records/http/key_pair.h"

#include <cstdint>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"

namespace infeed::key_pair_test {

TEST(KeyPairTest, KnowsTheKeyOfACertificate) {
  constexpr std::int64_t kMostBytes = 1 << 16;
  const TemporaryFolder folder;
  WriteTestCertificate(folder / "a.pem", folder / "a.key");
  WriteTestCertificate(folder / "b.pem", folder / "b.key");
  const auto read = [&](const std::string& name) {
    return ReadWholeFile(folder / name, kMostBytes);
  };
  EXPECT_TRUE(IsKeyOf(read("a.key"), read("a.pem")));
  // A chain begins with the certificate, and the files may be one.
  EXPECT_TRUE(IsKeyOf(read("a.key"), read("a.pem") + read("b.pem")));
  EXPECT_TRUE(IsKeyOf(read("a.pem") + read("a.key"), read("a.pem")));
  EXPECT_FALSE(IsKeyOf(read("b.key"), read("a.pem")));
  EXPECT_FALSE(IsKeyOf(read("a.pem"), read("a.pem")));
  EXPECT_FALSE(IsKeyOf(read("a.key"), ""));
}

}  // namespace infeed::key_pair_test
