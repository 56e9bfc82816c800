#pragma once

#include <unistd.h>

namespace infeed {

// Remembers the process that made it. A child of fork() has a copy of each
// object but none of the threads, and locks may be held for ever: an object
// with threads uses this class so as not to touch them in the child.
class OwnerProcess {
 public:
  [[nodiscard]] bool IsCurrent() const { return id_ == ::getpid(); }

 private:
  pid_t id_ = ::getpid();
};

}  // namespace infeed
