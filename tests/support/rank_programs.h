#pragma once

#include <sys/types.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/closed_port.h"
#include "tests/support/environment_variable.h"
#include "tests/support/running_program.h"

#include "gtest/gtest.h"

// train_resnet of several processes, as users start it.
namespace infeed {

using Arguments = std::vector<std::string>;

// Ranks that are processes of their own, each started with RANK and so on.
class RanksByHand {
 public:
  explicit RanksByHand(int world_size) : world_size_(world_size) {
    const ClosedPort free;
    port_ = free.port();
  }

  RunningProgram& Start(int rank, const Arguments& arguments) {
    const EnvironmentVariable variables[] = {
        {"RANK", std::to_string(rank)},
        {"WORLD_SIZE", std::to_string(world_size_)},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", std::to_string(port_)}};
    programs_.push_back(
        std::make_unique<RunningProgram>("train_resnet", arguments));
    return *programs_.back();
  }

  void StartAll(const Arguments& arguments) {
    for (int rank = 0; rank < world_size_; ++rank) {
      Start(rank, arguments);
    }
  }

  // Rank 0's.
  [[nodiscard]] int port() const { return port_; }
  RunningProgram& operator[](std::size_t i) { return *programs_[i]; }

 private:
  int world_size_;
  int port_ = 0;
  std::vector<std::unique_ptr<RunningProgram>> programs_;
};

// The processes that a process has started.
inline std::vector<pid_t> ChildrenOf(pid_t process) {
  const std::string number = std::to_string(process);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) {
    children.push_back(child);
  }
  return children;
}

// A file of /proc.
inline std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A launcher of two ranks, which train without end.
class LaunchedRanks {
 public:
  explicit LaunchedRanks(const Arguments& arguments)
      : launcher_("train_resnet", arguments) {
    EXPECT_TRUE(launcher_.ReadUntil("step 1/")) << launcher_.err();
    ranks_ = ChildrenOf(launcher_.process());
    EXPECT_EQ(ranks_.size(), 2U);
  }

  [[nodiscard]] RunningProgram& launcher() { return launcher_; }
  // By rank.
  [[nodiscard]] const std::vector<pid_t>& ranks() const { return ranks_; }

 private:
  RunningProgram launcher_;
  std::vector<pid_t> ranks_;
};

}  // namespace infeed
