#include "records/http/secrets_guard.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(WithoutUrlSecretsTest, LeavesTextWithoutUrlsAlone) {
  for (const char* const text : {"", "--a=b", "/a/b?c", "://", "a://", "?"}) {
    EXPECT_EQ(WithoutUrlSecrets(text), text);
  }
}

TEST(WithoutUrlSecretsTest, CutsSignaturesAndPasswordsWhereverUrlsStand) {
  EXPECT_EQ(WithoutUrlSecrets("https://u:p@h/x"), "https://h/x");
  EXPECT_EQ(WithoutUrlSecrets("--data_dir=https://h/x?sig=1,2"),
            "--data_dir=https://h/x?...");
  EXPECT_EQ(WithoutUrlSecrets("{a: \"HTTPS://h/x?sig=1\", b: 2} http://h#s"),
            "{a: \"HTTPS://h/x?...\", b: 2} http://h?...");
  EXPECT_EQ(WithoutUrlSecrets("a=s3://b/k,b=https://u:p@h/x,c=http://v@i/y?z"),
            "a=s3://b/k,b=https://h/x,c=http://i/y?...");
  EXPECT_EQ(WithoutUrlSecrets("a=s3://b/k?x gs://b/#y"),
            "a=s3://b/k?x gs://b/#y");  // Parts of the keys.
}

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
