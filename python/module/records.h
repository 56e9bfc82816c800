#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// Adds Records (random access), Writer, parse_example() and build_example().
void AddRecords(nanobind::module_& module);

}  // namespace infeed::python
