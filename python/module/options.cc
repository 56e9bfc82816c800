#include "python/module/options.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/views.h"

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

// The keys of boxes, their format, whether they are normalised, the label's
// key.
std::tuple<std::vector<std::string>, std::string, bool, std::string>
PresetOfObjects(const std::string& name) {
  const ObjectsSpec preset = ObjectsPreset(name);
  return {preset.boxes, std::string(ChoiceName(preset.format, kBoxFormats)),
          preset.is_normalized, preset.lists.at(0).key};
}

std::string TypeOfObjectList(const std::string& key) {
  switch (KnownObjectList(key).kind) {
    case FeatureKind::kInt64:
      return "int64";
    case FeatureKind::kFloat:
      return "float32";
    default:
      return "bytes";
  }
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
      row["needs"] = option.need.others;
      row["needs_values"] = option.need.values;
      rows.append(row);
    }
  }
  return rows;
}

template <typename T>
std::vector<T> ToVector(nb::handle array) {
  const auto values =
      nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig>>(array);
  return {values.data(), values.data() + values.size()};
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
      if (name == "label_key") {  // Also the standard one.
        options.wants_labels = !options.label_key.empty();
      }
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

ObjectsSpec ReadObjects(const nb::object& given,
                        const std::vector<FieldSpec>& fields) {
  if (given.is_none()) {
    return {};
  }
  ObjectsSpec objects = {
      .boxes = nb::cast<std::vector<std::string>>(given[0]),
      .format =
          ParseChoice("format", nb::cast<std::string>(given[1]), kBoxFormats),
      .is_normalized = nb::cast<bool>(given[2]),
      .filter = {.min_size = nb::cast<float>(given[4]),
                 .min_area = nb::cast<float>(given[5]),
                 .min_visible = nb::cast<float>(given[6]),
                 .keep = ParseChoice("keep", nb::cast<std::string>(given[7]),
                                     kBoxKeeps)}};
  for (const auto& key : nb::cast<std::vector<std::string>>(given[3])) {
    const auto field = std::ranges::find(fields, key, &FieldSpec::key);
    objects.lists.push_back(field == fields.end() ? KnownObjectList(key)
                                                  : *field);
  }
  return objects;
}

void AddViews(const nb::list& given, InputOptions& options) {
  for (const nb::handle view : given) {
    std::vector<OptionAssignment> settings;
    for (const auto& [name, value] : nb::cast<nb::dict>(view)) {
      settings.push_back({.name = nb::cast<std::string>(name),
                          .value = TextOf(value),
                          .place = ""});
    }
    try {
      options.views.push_back(MakeView(options, settings));
    } catch (const UsageError& error) {
      throw UsageError("view " + std::to_string(options.views.size() + 1) +
                       ": " + error.what());
    }
  }
}

TlsFiles ReadTlsFiles(const nb::tuple& given) {
  return {.cert = BytesOf(given[0]),
          .key = BytesOf(given[1]),
          .ca = BytesOf(given[2])};
}

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

void AddOptions(nb::module_& module) {
  module.def("option_table", &OptionTable,
             nb::sig("def option_table() -> list[dict[str, str]]"),
             "The input's options: a dict for each, with group, name, type, "
             "choices, default, range, unit and help.");
  module.def("objects_preset", &PresetOfObjects, nb::arg("name"),
             "Of \"tf\" or \"tfds\": the keys of the boxes, their format, "
             "whether they are normalised, the key of the labels.");
  module.def("object_list_type", &TypeOfObjectList, nb::arg("key"),
             "The type of a list of objects that is known by its key.");
}

}  // namespace infeed::python
