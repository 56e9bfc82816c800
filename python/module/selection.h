#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "pipeline/order/selection.h"

namespace infeed::python {

// The selection of a tuple: record numbers as an array of uint32, their weights
// as an array of float64 or None, and the places of an epoch. None gives null:
// each record once.
[[nodiscard]] std::shared_ptr<const Selection> ReadSelection(
    const nanobind::object& selection);

}  // namespace infeed::python
