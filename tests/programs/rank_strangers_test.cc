// Trainings of several processes, while other processes connect to all ports on
// the machine.

#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/support/listening_sockets.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_programs.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "trainer/ranks/socket.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenName = "INFEED_RANK_TOKEN";

// Connects to every port at which a process or one of its children listens,
// sends one invalid byte, and keeps all connections open.
class HoldingStranger {
 public:
  explicit HoldingStranger(pid_t process)
      : thread_([this, process](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            HoldAll(process);
            for (const pid_t child : ChildrenOf(process)) {
              HoldAll(child);
            }
          }
        }) {}

  [[nodiscard]] int held() const { return held_; }

 private:
  void HoldAll(pid_t process) {
    for (const ListeningSocket& socket : ListeningSocketsOf(process)) {
      if (!connections_.contains(socket.port)) {
        Hold(socket.port);
      }
    }
  }

  void Hold(int port) {
    try {
      Descriptor connection =
          ConnectTo("127.0.0.1", port, std::chrono::milliseconds(100));
      (void)::send(connection.get(), "", 1, MSG_NOSIGNAL);
      connections_[port] = std::move(connection);
      ++held_;
    } catch (const IoError&) {  // It listens no more.
    }
  }

  std::map<int, Descriptor> connections_;
  std::atomic<int> held_ = 0;
  std::jthread thread_;  // Last: it uses the members above.
};

class RankStrangersTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Model() const { return folder_ / "model"; }

  // Two ranks, which train until they are stopped.
  [[nodiscard]] Arguments Training() const {
    return ShellWords(
        "--mode train --device cpu --local_ranks 2 --data_dir null "
        "--num_train_images 48 --model_dir " +
        Model() +
        " --params_override model=lenet,image_size=28,recipe=plain,"
        "precision=float32,train_batch_size=12,iterations_per_loop=2,"
        "base_learning_rate=0.1,learning_rate_schedule=constant,"
        "train_steps=100000");
  }

  // Whatever the run has written into the model's folder.
  [[nodiscard]] std::string WrittenText() const {
    std::string text;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(Model())) {
      text += entry.is_regular_file() ? TextOf(entry.path()) : "";
    }
    return text;
  }

 private:
  TemporaryFolder folder_;
};

// Once more where the ranks have met before the stranger was there.
TEST_F(RankStrangersTest, LocalRanksTrainBesideOneWhoHoldsEveryPort) {
  int held = 0;
  for (int i = 0; i < 20 && held == 0; ++i) {
    RunningProgram launcher("train_resnet", Training());
    const HoldingStranger stranger(launcher.process());
    ASSERT_TRUE(launcher.ReadUntil("step 1/")) << launcher.err();
    held = stranger.held();
    launcher.Signal(SIGTERM);
    EXPECT_EQ(launcher.Wait(), 75) << launcher.err();
    fs::remove_all(Model());
  }
  EXPECT_GT(held, 0);
}

TEST_F(RankStrangersTest, LocalRanksListenOnLoopbackAloneAndNotWhereTheyMet) {
  LaunchedRanks run(Training());
  EXPECT_THAT(ListeningSocketsOf(run.launcher().process()), IsEmpty());
  for (const pid_t rank : run.ranks()) {
    const std::string variables =
        TextOf("/proc/" + std::to_string(rank) + "/environ");
    for (const ListeningSocket& socket : ListeningSocketsOf(rank)) {
      EXPECT_EQ(socket.address, "0100007F") << "port " << socket.port;
      EXPECT_THAT(variables,
                  Not(HasSubstr("MASTER_PORT=" + std::to_string(socket.port) +
                                std::string(1, '\0'))));
    }
  }
}

TEST_F(RankStrangersTest, TheLaunchersTokenIsShownNowhere) {
  LaunchedRanks run(Training());
  const std::string folder = "/proc/" + std::to_string(run.ranks()[1]);
  const std::string variables = TextOf(folder + "/environ");
  const std::string name = std::string(kTokenName) + "=";
  const std::size_t at = variables.find(name);
  ASSERT_NE(at, std::string::npos);
  const std::string token = variables.substr(at + name.size(), 64);
  EXPECT_THAT(token, testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_THAT(TextOf(folder + "/cmdline"), Not(HasSubstr(token)));
  run.launcher().Signal(SIGTERM);
  EXPECT_EQ(run.launcher().Wait(), 75);
  EXPECT_THAT(run.launcher().err(), Not(HasSubstr(token)));
  EXPECT_THAT(WrittenText(), HasSubstr(name + "..."));
  EXPECT_THAT(WrittenText(), Not(HasSubstr(token)));
}

}  // namespace
}  // namespace infeed
