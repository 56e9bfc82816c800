#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// Adds Index (RecordIndex) and find_shards().
void AddIndex(nanobind::module_& module);

}  // namespace infeed::python
