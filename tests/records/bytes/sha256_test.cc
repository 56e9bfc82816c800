#include "records/bytes/sha256.h"

#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// FIPS 180-2, appendix B.1.
constexpr const char* kOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256Test, HashesBytesThatComeInPieces) {
  Sha256 hash;
  hash.Add(AsBytes("a"));
  hash.Add(AsBytes("bc"));
  EXPECT_EQ(Hex(hash.Finish()), kOfAbc);
}

}  // namespace
}  // namespace infeed
