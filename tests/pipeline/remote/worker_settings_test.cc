#include "pipeline/remote/worker_settings.h"

#include <string>

#include "base/error.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

constexpr const char* kWorkerToken = "INFEED_WORKER_TOKEN";

class WorkerSettingsTest : public ::testing::Test {
 protected:
  ~WorkerSettingsTest() override { SetWorkerTls({}); }
};

std::string RefusalOfToken(const std::string& token) {
  const EnvironmentVariable variable(kWorkerToken, token);
  return MessageOf<UsageError>([] { static_cast<void>(WorkerAccess()); });
}

TEST_F(WorkerSettingsTest, KeepTheTlsFiles) {
  const TlsFiles files = {.cert = "cert.pem", .key = "key.pem", .ca = "ca.pem"};
  SetWorkerTls(files);
  EXPECT_EQ(WorkerAccess().tls, files);
  EXPECT_TRUE(WorkerAccess().has_tls());
}

TEST_F(WorkerSettingsTest, RefuseSomeOfTheFiles) {
  const std::string message = MessageOf<UsageError>(
      [] { SetWorkerTls({.cert = "cert.pem", .ca = "ca.pem"}); });
  EXPECT_THAT(message, HasSubstr("tls_key"));
  EXPECT_FALSE(WorkerAccess().has_tls());
}

TEST_F(WorkerSettingsTest, TakeTheTokenFromTheEnvironmentWhereOneIsSet) {
  for (const char* token : {"abcdefghijklmnopqrstuvwxyzABC-_0189", ""}) {
    const EnvironmentVariable variable(kWorkerToken, token);
    EXPECT_EQ(WorkerAccess().token, token);
  }
}

TEST_F(WorkerSettingsTest, RefuseAShortTokenWithoutPrintingIt) {
  const std::string token(31, 'x');
  EXPECT_THAT(RefusalOfToken(token),
              AllOf(HasSubstr(kWorkerToken), Not(HasSubstr(token))));
  EXPECT_EQ(RefusalOfToken(token + "x"), "");
}

TEST_F(WorkerSettingsTest, RefuseATokenWithOtherCharacters) {
  for (const char* wrong : {" ", "=", "/", "\n", "\xc3\xa4"}) {
    EXPECT_THAT(RefusalOfToken(std::string(40, 'x') + wrong),
                HasSubstr(kWorkerToken))
        << wrong;
  }
}

bool MayListen(const std::string& address, const RpcAccess& access = {}) {
  return MessageOf<UsageError>([&] { CheckListenAddress(address, access); })
      .empty();
}

TEST(CheckListenAddressTest, AllowsThisMachineToEverybody) {
  for (const char* address :
       {"127.0.0.1:9410", "127.1.2.3:0", "[::1]:9410", "localhost:9410"}) {
    EXPECT_TRUE(MayListen(address)) << address;
  }
}

TEST(CheckListenAddressTest, RefusesOtherAddressesWithoutTokenOrTls) {
  for (const char* address : {"0.0.0.0:9410", "10.0.0.1:9410", "[::]:9410",
                              ":9410", "worker:9410", "127.worker:9410"}) {
    EXPECT_FALSE(MayListen(address)) << address;
    EXPECT_TRUE(MayListen(address, {.token = "t"})) << address;
    EXPECT_TRUE(
        MayListen(address, {.tls = {.cert = "c", .key = "k", .ca = "a"}}))
        << address;
  }
}

}  // namespace
}  // namespace infeed
