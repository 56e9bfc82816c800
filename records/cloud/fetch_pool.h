#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"

namespace infeed {

// The threads that wait for the network, for all readers and writers of the
// process together.
//
// Owns the threads. Its end asks what is running to stop, drops what is not,
// and joins. Thread-safe.
class FetchPool {
 public:
  // Told by its token when the pool ends. Must not throw.
  using Task = std::function<void(std::stop_token)>;

  explicit FetchPool(int threads);
  ~FetchPool();
  FetchPool(const FetchPool&) = delete;
  FetchPool& operator=(const FetchPool&) = delete;

  // Ends it before its time: what is submitted from then on is dropped, and
  // ForEach() works on the caller's thread alone. May be called again, by one
  // thread at a time.
  void Stop();

  // Never waits: tasks line up.
  void Submit(Task task);

  // Calls work(0), ..., work(count - 1), on this thread and on those of the
  // pool that are free: it gets on even when none is. Returns when all have
  // ended, and throws what the first that failed threw; those not yet begun are
  // left out then.
  void ForEach(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  BoundedQueue<Task> tasks_;
  std::vector<std::jthread> threads_;
};

}  // namespace infeed
