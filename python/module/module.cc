// infeed._engine: what the package infeed is made of.

#include <nanobind/nanobind.h>

#include "python/module/batch.h"
#include "python/module/decode.h"
#include "python/module/errors.h"
#include "python/module/index.h"
#include "python/module/options.h"
#include "python/module/records.h"
#include "python/module/stream.h"

NB_MODULE(_engine, module) {
  // A script may end while it still has batches: nothing of that is a fault.
  nanobind::set_leak_warnings(false);
  infeed::python::AddErrors(module);
  infeed::python::AddOptions(module);
  infeed::python::AddIndex(module);
  infeed::python::AddBatch(module);
  infeed::python::AddStream(module);
  infeed::python::AddRecords(module);
  infeed::python::AddDecode(module);
}
