#include "python/module/options.h"

#include <string>
#include <string_view>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

constexpr Choices<FeatureKind, 3> kKinds = {{{"int64", FeatureKind::kInt64},
                                             {"float32", FeatureKind::kFloat},
                                             {"bytes", FeatureKind::kBytes}}};

const InputOption& KnownOption(std::string_view name) {
  for (const InputOption& option : InputOptionTable()) {
    if (option.name == name) {
      return option;
    }
  }
  throw UsageError("unknown option '" + std::string(name) +
                   "': infeed.option_table() lists them");
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
    const auto path = nb::cast<nb::bytes>(value);
    return {path.c_str(), path.size()};
  }
  return nb::cast<std::string>(nb::str(value));
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
  for (const auto& [key, kind] : given) {
    fields.push_back(
        {.key = nb::cast<std::string>(key),
         .kind = ParseChoice("fields", nb::cast<std::string>(kind), kKinds)});
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
