#include "python/module/selection.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

namespace infeed::python {
namespace {

namespace nb = nanobind;

template <typename T>
std::vector<T> ToVector(nb::handle array) {
  const auto values =
      nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig>>(array);
  return {values.data(), values.data() + values.size()};
}

}  // namespace

std::shared_ptr<const Selection> ReadSelection(const nb::object& selection) {
  if (selection.is_none()) {
    return nullptr;
  }
  RecordGroup group{.name = "subset"};
  group.ids = ToVector<std::uint32_t>(selection[0]);
  const nb::object weights = selection[1];
  if (!weights.is_none()) {
    group.weights = ToVector<double>(weights);
  }
  std::vector<RecordGroup> groups;
  groups.push_back(std::move(group));
  return std::make_shared<const Selection>(
      std::move(groups), nb::cast<std::int64_t>(selection[2]));
}

}  // namespace infeed::python
