#include "python/module/selection.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>

namespace infeed::python {

namespace nb = nanobind;

std::shared_ptr<const Selection> ReadSelection(const nb::object& selection) {
  if (selection.is_none()) {
    return nullptr;
  }
  RecordGroup group{.name = "subset"};
  const nb::object weights = selection["weights"];
  if (!weights.is_none()) {
    group.weights = nb::cast<std::vector<double>>(weights);
  }
  group.ids = nb::cast<std::vector<std::uint32_t>>(selection["ids"]);
  std::vector<RecordGroup> groups;
  groups.push_back(std::move(group));
  return std::make_shared<const Selection>(
      std::move(groups), nb::cast<std::int64_t>(selection["places"]));
}

}  // namespace infeed::python
