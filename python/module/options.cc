#include "python/module/options.h"

#include <string>
#include <string_view>
#include <utility>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

const InputOption& KnownOption(std::string_view name) {
  for (const InputOption& option : InputOptionTable()) {
    if (option.name == name) {
      return option;
    }
  }
  throw UsageError("unknown option '" + std::string(name) +
                   "': infeed.option_table() lists them");
}

std::string BytesOf(nb::handle value) {
  const auto bytes = nb::cast<nb::bytes>(value);
  return {bytes.c_str(), bytes.size()};
}

std::string TextOf(nb::handle value) {
  if (PyBool_Check(value.ptr()) != 0) {
    return value.ptr() == Py_True ? "true" : "false";
  }
  if ((PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0) &&
      nb::len(value) == 2) {
    // Height and width; "0x24" would be a number.
    const std::string height = TextOf(value[0]);
    return height + (height == "0" ? " x " : "x") + TextOf(value[1]);
  }
  if (nb::isinstance<nb::bytes>(value)) {  // a path
    return BytesOf(value);
  }
  return nb::cast<std::string>(nb::str(value));
}

// The kind of the lists that have a fixed field's items.
FeatureKind KindOf(ItemType type) {
  switch (type) {
    case ItemType::kFloat32:
    case ItemType::kFloat64:
    case ItemType::kFloat16:
      return FeatureKind::kFloat;
    default:
      return FeatureKind::kInt64;
  }
}

// python/infeed/fields.py makes these tuples.
FieldSpec ReadFieldSpec(std::string key, const nb::tuple& given) {
  FieldSpec field = {.key = std::move(key),
                     .kind = FeatureKind::kBytes,
                     .is_raw = nb::cast<bool>(given[4])};
  if (const auto type = nb::cast<std::string>(given[0]); type != "bytes") {
    field.type = ParseChoice("fields", type, kItemTypes);
    field.kind = field.is_raw ? FeatureKind::kBytes : KindOf(field.type);
  }
  if (!given[1].is_none()) {
    field.shape = nb::cast<std::vector<std::int64_t>>(given[1]);
  }
  field.pad = BytesOf(given[2]);
  if (!given[3].is_none()) {
    field.absent = BytesOf(given[3]);
  }
  return field;
}

nb::list OptionTable() {
  nb::list rows;
  InputOptions standard;
  for (const InputOptionGroup& group : InputOptionGroups()) {
    for (const InputOption& option : group.options) {
      nb::dict row;
      row["group"] = group.title;
      row["name"] = option.name;
      row["type"] = TypeText(option.at(standard));
      row["choices"] = option.choices;
      row["default"] = DefaultText(option, option.at(standard));
      row["range"] = RangeText(option);
      row["unit"] = option.unit;
      row["help"] = option.help;
      rows.append(row);
    }
  }
  return rows;
}

}  // namespace

InputOptions ReadOptions(const nb::dict& given) {
  InputOptions options;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(nb::str(key));
    const InputOption& option = KnownOption(name);
    if (!value.is_none()) {
      SetOption(option, {.name = name, .value = TextOf(value), .place = ""},
                option.at(options));
    }
  }
  return options;
}

std::vector<FieldSpec> ReadFieldSpecs(const nb::dict& given) {
  std::vector<FieldSpec> fields;
  for (const auto& [key, field] : given) {
    fields.push_back(
        ReadFieldSpec(nb::cast<std::string>(key), nb::cast<nb::tuple>(field)));
  }
  return fields;
}

void AddOptions(nb::module_& module) {
  module.def("option_table", &OptionTable,
             nb::sig("def option_table() -> list[dict[str, str]]"),
             "The input's options: a dict for each, with group, name, type, "
             "choices, default, range, unit and help.");
}

}  // namespace infeed::python
