#include "python/module/module.h"

#include <cstdint>

#include <nanobind/ndarray.h>

#include "python/module/batch.h"
#include "python/module/options.h"
#include "python/module/stream.h"
#include "python/module/unlocked.h"

namespace {

// nanobind looks up numpy.asarray for its first array, and turns a
// KeyboardInterrupt during that into a TypeError: so do it now, not in a loop's
// first batch.
void LookUpNumpy(nanobind::handle owner) {
  static std::uint8_t byte = 0;
  using Bytes = nanobind::ndarray<nanobind::numpy, std::uint8_t>;
  (void)nanobind::cast(Bytes(&byte, {1}, owner));
}

}  // namespace

NB_MODULE(_engine, module) {
  // A script may end while it still has batches; that is not a leak.
  nanobind::set_leak_warnings(false);
  LookUpNumpy(module);
  infeed::python::AddErrors(module);
  infeed::python::AddUnlocked(module);
  infeed::python::AddOptions(module);
  infeed::python::AddIndex(module);
  infeed::python::AddBatch(module);
  infeed::python::AddStream(module);
  infeed::python::AddRecords(module);
  infeed::python::AddDecode(module);
}
