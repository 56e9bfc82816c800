#include "python/module/unlocked.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/owner_process.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

std::atomic<int> locking = 0;  // threads that take the lock
std::atomic<bool> is_ending = false;
std::thread::id ender;  // set before is_ending

// Called by the thread that ends the interpreter, before that takes the lock
// from others. After a fork() the threads that take it are in the parent.
void End(const OwnerProcess& process) {
  ender = std::this_thread::get_id();
  is_ending = true;
  const nb::gil_scoped_release release;
  while (process.IsCurrent() && locking > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Unlocked::~Unlocked() {
  ++locking;
  if (is_ending && std::this_thread::get_id() != ender) {
    --locking;
    for (;;) {
      ::pause();
    }
  }
  PyEval_RestoreThread(state_);
  --locking;
}

void AddUnlocked(nb::module_& /*module*/) {
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([process = OwnerProcess()] { End(process); }));
}

}  // namespace infeed::python
