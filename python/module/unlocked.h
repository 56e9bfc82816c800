#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// Without the interpreter's lock while it exists. At the interpreter's end
// CPython 3.11 ends each daemon thread that takes the lock, and to end one in
// C++ code aborts the process. So there such a thread waits for ever.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Has the threads that are unlocked stay so from the interpreter's end on.
void AddUnlocked(nanobind::module_& module);

}  // namespace infeed::python
