#include "records/http/secrets_guard.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(IsSecretNameTest, KnowsTheUsualWords) {
  for (const char* const name :
       {"INFEED_HTTP_BEARER_TOKEN", "AWS_SECRET_ACCESS_KEY", "X_PASSWORD"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* const name : {"OMP_NUM_THREADS", "INFEED_DATA_DIR"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

}  // namespace
}  // namespace infeed
