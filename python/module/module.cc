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
  using namespace infeed::python;
  AddErrors(module);
  AddOptions(module);
  AddIndex(module);
  AddBatch(module);
  AddStream(module);
  AddRecords(module);
  AddDecode(module);
}
