#pragma once

#include <functional>
#include <memory>

namespace infeed {

// A oneTBB arena with threads of its own, which admits no others: neither the
// number of cores, nor another user of oneTBB, nor a limit that the program
// sets changes how many work. One more thread may come in from outside, by
// Execute() or by waiting for a graph that was made in there.
//
// Owns its threads. Thread-safe. Nothing throws but the body.
class ClosedArena {
 public:
  // Requires: threads > 0.
  explicit ClosedArena(int threads);
  // Waits for the threads to leave. Requires: no work is left.
  ~ClosedArena();
  ClosedArena(const ClosedArena&) = delete;
  ClosedArena& operator=(const ClosedArena&) = delete;

  // Calls body in the calling thread, inside the arena: a flow graph belongs
  // to the arena in which it is made.
  void Execute(const std::function<void()>& body);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace infeed
