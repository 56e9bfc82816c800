#include <string>

#include "base/error.h"
#include "tests/pipeline/rpc/rpc_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

namespace infeed::rpc_test {
namespace {

// Certificates that signed themselves, so that each is its own authority.
class RpcTlsTest : public ::testing::Test {
 protected:
  RpcTlsTest() {
    for (const char* name : {"server", "client", "stranger"}) {
      WriteTestCertificate(folder_ / (std::string(name) + ".pem"),
                           folder_ / (std::string(name) + ".key"));
    }
  }

  // Of `own`, that trusts `other`.
  [[nodiscard]] RpcAccess AccessOf(const std::string& own,
                                   const std::string& other) const {
    return {.tls = {.cert = folder_ / (own + ".pem"),
                    .key = folder_ / (own + ".key"),
                    .ca = folder_ / (other + ".pem")}};
  }

  // What a client with this access gets from a server with that one.
  static Answer AnswerTo(const RpcAccess& client, const RpcAccess& server) {
    const auto listening = Serve(Echo, server);
    return Ask(*ConnectTo(listening->port(), client), "hi");
  }

  TemporaryFolder folder_;
};

TEST_F(RpcTlsTest, AcceptsEachOther) {
  const Answer answer =
      AnswerTo(AccessOf("client", "server"), AccessOf("server", "client"));
  EXPECT_TRUE(answer.status.is_ok()) << answer.status.message;
  EXPECT_EQ(answer.text, "hi");
}

TEST_F(RpcTlsTest, RefusesAServerThatItsAuthorityDidNotSign) {
  EXPECT_EQ(
      AnswerTo(AccessOf("client", "stranger"), AccessOf("server", "client"))
          .status.code,
      RpcCode::kUnavailable);
}

TEST_F(RpcTlsTest, RefusesAClientThatItsAuthorityDidNotSign) {
  EXPECT_EQ(
      AnswerTo(AccessOf("stranger", "server"), AccessOf("server", "client"))
          .status.code,
      RpcCode::kUnavailable);
}

TEST_F(RpcTlsTest, DoesNotTalkToPlainText) {
  EXPECT_FALSE(AnswerTo({}, AccessOf("server", "client")).status.is_ok());
  EXPECT_FALSE(AnswerTo(AccessOf("client", "server"), {}).status.is_ok());
}

TEST_F(RpcTlsTest, NamesTheFileThatIsMissingOrNoPem) {
  RpcAccess access = AccessOf("client", "server");
  access.tls.ca = folder_ / "none.pem";
  EXPECT_THAT(MessageOf<UsageError>([&] { Serve(Echo, access); }),
              HasSubstr("none.pem"));
  access.tls.ca = folder_ / "server.pem";
  access.tls.cert = folder_ / "client.key";
  EXPECT_THAT(MessageOf<UsageError>([&] { ConnectTo(1, access); }),
              HasSubstr("client.key"));
}

}  // namespace
}  // namespace infeed::rpc_test
