#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// Adds decode_image().
void AddDecode(nanobind::module_& module);

}  // namespace infeed::python
