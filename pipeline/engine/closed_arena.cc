#include "pipeline/engine/closed_arena.h"

#include <pthread.h>

#include <atomic>
#include <deque>
#include <string>
#include <thread>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/error.h"

namespace infeed {
namespace {

std::atomic<int> arenas{0};
std::atomic<bool> forked_with_arenas{false};  // this process or one before it

// Counts an arena of this process.
class CountedArena {
 public:
  CountedArena() {
    [[maybe_unused]] static const int registered = ::pthread_atfork(
        nullptr, nullptr,
        [] { forked_with_arenas = forked_with_arenas || arenas > 0; });
    ++arenas;
  }
  ~CountedArena() { --arenas; }
  CountedArena(const CountedArena&) = delete;
  CountedArena& operator=(const CountedArena&) = delete;
};

void CheckWorksHere() {
  if (!ClosedArena::WorksHere()) {
    throw UsageError(
        "this process was forked from one whose input had threads, and oneTBB "
        "does not work here: start it without fork() (spawn), or give "
        "graph=basic");
  }
}

}  // namespace

class ClosedArena::Impl {
 public:
  explicit Impl(int threads)
      // All arena slots are reserved for the threads started here: none is left
      // for oneTBB's own workers. The extra slot is for one thread from
      // outside.
      : arena_(threads + 1, threads + 1) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back(arena_, "infeed work " + std::to_string(i + 1));
    }
  }

  void Execute(const std::function<void()>& body) { arena_.execute(body); }

 private:
  // A thread that works in the arena until it is destroyed: it waits there for
  // a task that is never run, and oneTBB lets a waiting thread run other tasks.
  class Worker {
   public:
    // name: shown by tools like top; at most 15 characters.
    Worker(tbb::task_arena& arena, const std::string& name)
        : never_run_(shift_.defer([] {})), thread_([this, &arena, name] {
            (void)::pthread_setname_np(::pthread_self(), name.c_str());
            arena.execute([this] { shift_.wait(); });
          }) {}
    ~Worker() {
      never_run_ = {};
      thread_.join();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

   private:
    tbb::task_group shift_;
    tbb::task_handle never_run_;
    std::jthread thread_;
  };

  CountedArena counted_;
  tbb::task_arena arena_;
  std::deque<Worker> threads_;
};

bool ClosedArena::WorksHere() { return !forked_with_arenas; }

ClosedArena::ClosedArena(int threads) {
  CheckWorksHere();
  impl_ = std::make_unique<Impl>(threads);
}

ClosedArena::~ClosedArena() = default;

void ClosedArena::Execute(const std::function<void()>& body) {
  impl_->Execute(body);
}

}  // namespace infeed
