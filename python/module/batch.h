#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "pipeline/memory/batch.h"

namespace infeed::python {

// A batch on loan to Python. Its arrays keep the Python object: when the last
// one is freed, the batch returns to its pool.
using Loan = std::shared_ptr<Batch>;

// Adds Batch, with its arrays as numpy.ndarray without a copy.
void AddBatch(nanobind::module_& module);

}  // namespace infeed::python
