#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "pipeline/order/selection.h"

namespace infeed::python {

// The selection of a dict with ids, weights (either may be None) and places; of
// None null: each record once.
[[nodiscard]] std::shared_ptr<const Selection> ReadSelection(
    const nanobind::object& selection);

}  // namespace infeed::python
