#pragma once

#include <functional>
#include <memory>

namespace infeed {

// A oneTBB arena with threads of its own, which admits no others: the number of
// working threads depends neither on the number of cores, nor on other users of
// oneTBB, nor on a limit that the program sets. One more thread may enter, by
// Execute() or by waiting for a graph that was made in the arena.
//
// oneTBB does not survive a fork() while threads of an arena wait: its list of
// waiting threads then leads into stacks that the child uses again.
//
// Owns its threads. Thread-safe. Only the body may throw.
class ClosedArena {
 public:
  // False in a child of fork() that was made while an arena existed, and in its
  // own children: no arena may be made there.
  [[nodiscard]] static bool WorksHere();

  // Requires: threads > 0. Throws UsageError where arenas do not work.
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
