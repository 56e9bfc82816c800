#pragma once

#include <nanobind/nanobind.h>

namespace infeed::python {

// The project's exceptions as Python's: UsageError is a ValueError, DataError
// infeed.DataError, IoError an OSError with its errno, of which Python makes
// FileNotFoundError and the like.
void AddErrors(nanobind::module_& module);

}  // namespace infeed::python
