#include "pipeline/engine/closed_arena.h"

#include <pthread.h>

#include <deque>
#include <string>
#include <thread>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace infeed {

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
  // a task that is never run, and a oneTBB thread that waits works meanwhile.
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

  tbb::task_arena arena_;
  std::deque<Worker> threads_;
};

ClosedArena::ClosedArena(int threads)
    : impl_(std::make_unique<Impl>(threads)) {}

ClosedArena::~ClosedArena() = default;

void ClosedArena::Execute(const std::function<void()>& body) {
  impl_->Execute(body);
}

}  // namespace infeed
