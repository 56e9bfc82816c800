#include "pipeline/engine/closed_arena.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include <tbb/flow_graph.h>

#include "base/error.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace flow = tbb::flow;

TEST(ClosedArenaTest, NamesItsThreads) {
  ClosedArena arena(1);
  std::optional<flow::graph> graph;
  std::optional<flow::function_node<int>> ask;
  std::array<char, 16> name{};
  std::atomic<bool> asked{false};
  arena.Execute([&] {
    graph.emplace();
    ask.emplace(*graph, flow::unlimited, [&](int) {
      ::pthread_getname_np(::pthread_self(), name.data(), name.size());
      asked = true;
      asked.notify_all();
    });
  });
  ask->try_put(0);
  asked.wait(false);  // Not in the graph: this thread would do the work itself.
  graph->wait_for_all();
  EXPECT_STREQ(name.data(), "infeed work 1");
}

// Whether arenas work, as a child of fork() finds.
bool WorkInAChild() {
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_refused = false;
    try {
      if (!ClosedArena::WorksHere()) {
        ClosedArena arena(1);
      }
    } catch (const UsageError&) {
      is_refused = true;
    }
    ::_exit(is_refused ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 0;
}

TEST(ClosedArenaTest, AnArenaIsRefusedInAForkedChild) {
  {
    ClosedArena arena(2);
    EXPECT_FALSE(WorkInAChild());
    EXPECT_TRUE(ClosedArena::WorksHere());
  }
  EXPECT_TRUE(WorkInAChild());
}

// All wait for each other inside a graph's node: so many threads work, on any
// number of cores, while the one outside does not.
TEST(ClosedArenaTest, HasTheThreadsThatWereAskedFor) {
  for (const int threads : {1, 2, 7}) {
    ClosedArena arena(threads);
    std::atomic<int> arrived{0};
    std::optional<flow::graph> graph;
    std::optional<flow::function_node<int>> meet;
    arena.Execute([&] {
      graph.emplace();
      meet.emplace(*graph, flow::unlimited, [&](int) {
        ++arrived;
        arrived.notify_all();
        for (int now = arrived; now < threads; now = arrived) {
          arrived.wait(now);
        }
      });
    });
    for (int i = 0; i < threads; ++i) {
      meet->try_put(i);
    }
    for (int now = arrived; now < threads; now = arrived) {
      arrived.wait(now);
    }
    graph->wait_for_all();
    EXPECT_EQ(arrived, threads);
  }
}

TEST(ClosedArenaTest, RunsABodyInTheCallingThread) {
  ClosedArena arena(2);
  std::thread::id inside;
  arena.Execute([&] { inside = std::this_thread::get_id(); });
  EXPECT_EQ(inside, std::this_thread::get_id());
}

}  // namespace
}  // namespace infeed
