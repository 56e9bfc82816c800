#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/pipeline/rpc/rpc_fixture.h"
#include "tests/support/child_process.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::rpc_test {
namespace {

constexpr const char* kPortFile = "INFEED_TEST_PORT_FILE";

// This program once more, as a server that answers "wait" never.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& port_file) {
    const EnvironmentVariable variable(kPortFile, port_file);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execl("/proc/self/exe", "rpc_test",
              "--gtest_filter=RpcLossTest.DISABLED_ServesAsAProcess",
              "--gtest_also_run_disabled_tests", nullptr);
      ::_exit(1);
    }
  }
  ~ServerProcess() { Kill(); }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  void Kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
      child_ = -1;
    }
  }

 private:
  pid_t child_ = -1;
};

int PortOf(const std::string& file) {
  int port = 0;
  EXPECT_TRUE(Eventually([&] {
    std::ifstream(file) >> port;
    return port != 0;
  }));
  return port;
}

void EchoUnlessWait(const std::shared_ptr<RpcServerCall>& call) {
  static HeldCalls held;
  static const RpcServer::Handler hold = held.handler();
  call->request() == "wait" ? hold(call) : Echo(call);
}

TEST(RpcLossTest, DISABLED_ServesAsAProcess) {
  const std::string file = std::getenv(kPortFile);
  const auto server = Serve(EchoUnlessWait);
  // Whoever waits for the file must not see half of the number.
  std::ofstream(file + ".new") << server->port() << "\n";
  std::filesystem::rename(file + ".new", file);
  std::this_thread::sleep_for(2 * kPatience);
}

TEST(RpcLossTest, NoticesAKilledServerAndFindsTheNextAtItsPort) {
  const TemporaryFolder folder;
  ServerProcess process(folder / "port");
  const int port = PortOf(folder / "port");
  const auto channel = ConnectTo(port);
  EXPECT_EQ(Ask(*channel, "hi").text, "hi");
  auto waiting = Begin(*channel, "/test/Method", "wait", kPatience);
  EXPECT_EQ(Ask(*channel, "hi").text, "hi");
  process.Kill();
  EXPECT_EQ(waiting.get().status.code, RpcCode::kUnavailable);
  std::unique_ptr<RpcServer> next = LoadedRpcLibrary().Listen(
      "127.0.0.1:" + std::to_string(port), {}, kMostBytes, Echo);
  EXPECT_TRUE(Eventually([&] { return Ask(*channel, "hi").text == "hi"; }));
}

TEST(RpcLossTest, IsUnavailableWhereNobodyListens) {
  int port = 0;
  {
    const auto server = Serve(Echo);
    port = server->port();
  }
  EXPECT_EQ(Ask(*ConnectTo(port)).status.code, RpcCode::kUnavailable);
}

TEST(RpcLossTest, RefusesAChildOfAProcessThatUsedIt) {
  static_cast<void>(LoadedRpcLibrary());
  EXPECT_THAT(InChild([] {
                return MessageOf<UsageError>(
                    [] { static_cast<void>(LoadedRpcLibrary()); });
              }),
              HasSubstr("spawn"));
}

}  // namespace
}  // namespace infeed::rpc_test
