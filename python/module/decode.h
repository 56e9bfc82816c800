#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// Adds decode_image(), and simd_targets() and use_simd_target().
void AddDecode(nanobind::module_& module);

}  // namespace infeed::python
