#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "base/owner_process.h"

namespace infeed {

// The threads that do network requests for all readers and writers of the
// process.
//
// Owns the threads. The destructor requests running tasks to stop, drops
// waiting tasks, and joins the threads. A child of fork() has no threads: there
// Stop() does nothing, and the destructor leaves the memory as it is.
// Thread-safe.
class FetchPool {
 public:
  // Its token requests a stop when the pool ends. Must not throw.
  using Task = std::function<void(std::stop_token)>;

  explicit FetchPool(int threads);
  ~FetchPool();
  FetchPool(const FetchPool&) = delete;
  FetchPool& operator=(const FetchPool&) = delete;

  // Stops the pool early: tasks submitted afterwards are dropped, and ForEach()
  // works on the caller's thread alone. May be called repeatedly, by one thread
  // at a time.
  void Stop();

  // Whether the threads are in this process, not in the one that forked it.
  [[nodiscard]] bool IsHere() const { return process_.IsCurrent(); }

  // Queues a task; never waits.
  void Submit(Task task);

  // Calls work(0), ..., work(count - 1), on this thread and on free threads of
  // the pool, if any. Returns when all calls have ended. After a failure no
  // further calls begin, and the first exception is rethrown.
  void ForEach(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  struct Workers {
    explicit Workers(int count);

    BoundedQueue<Task> tasks;
    std::vector<std::jthread> threads;
  };

  OwnerProcess process_;
  std::unique_ptr<Workers> workers_;
};

}  // namespace infeed
