#pragma once

#include <thread>
#include <vector>

#include <grpcpp/completion_queue.h>

namespace infeed {

// A call that gRPC works at.
class QueuedCall {
 public:
  QueuedCall() = default;
  virtual ~QueuedCall() = default;
  QueuedCall(const QueuedCall&) = delete;
  QueuedCall& operator=(const QueuedCall&) = delete;

  // gRPC is done with it. Called once, by a thread of the queue.
  virtual void End() = 0;
};

// Channels' calls, and the threads in which gRPC works at them and which end
// them. gRPC would have threads of its own, but at least two, which pass each
// event on to one another: where there are few cores, half of the switches
// between threads and an eighth of receiving's CPU time.
class CallQueue {
 public:
  CallQueue();
  // Requires: all calls have ended; not called by one of the threads.
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Tags are QueuedCalls.
  [[nodiscard]] grpc::CompletionQueue& queue() { return queue_; }

 private:
  void Work();

  grpc::CompletionQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace infeed
