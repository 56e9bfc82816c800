#include "tools/input/field_flag.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "records/example/fields.h"
#include "tools/cli/help_text.h"

namespace infeed {
namespace {

// The text before the first `end`, which is taken from it, or all of it.
std::string_view Take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

template <typename T>
bool CanBe(std::int64_t number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number == 0 || number == 1;
  } else {
    return std::in_range<T>(number);
  }
}

// The bytes of a number; throws UsageError.
template <typename T>
std::string ItemOf(std::string_view text) {
  T item{};
  if constexpr (std::is_floating_point_v<T>) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), item);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw UsageError("\"" + std::string(text) + "\" is no number");
    }
  } else {
    const auto number = ParseWholeNumber<std::int64_t>(text);
    if (!number || !CanBe<T>(*number)) {
      throw UsageError("\"" + std::string(text) +
                       "\" is no whole number of its type");
    }
    item = static_cast<T>(*number);
  }
  return {reinterpret_cast<const char*>(&item), sizeof(item)};
}

std::string EncodedItem(ItemType type, std::string_view text) {
  if (type == ItemType::kFloat16) {
    throw UsageError("a float16 has no pad or absent here");
  }
  return VisitItem(type, [&]<typename T>(T) { return ItemOf<T>(text); });
}

void SetType(std::string_view name, FieldSpec& field) {
  if (name == "bytes") {
    field.kind = FeatureKind::kBytes;
    return;
  }
  field.type = ParseChoice("a type that is not bytes", name, kItemTypes);
  field.kind = field.type == ItemType::kFloat32 ? FeatureKind::kFloat
                                                : FeatureKind::kInt64;
}

std::vector<std::int64_t> ParseShape(std::string_view text) {
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    const std::string_view side = Take(text, ',');
    const auto number = ParseWholeNumber<std::int64_t>(side);
    if (!number) {
      throw UsageError("\"" + std::string(side) + "\" is no side of a shape");
    }
    shape.push_back(*number);
  }
  return shape;
}

// One of pad=VALUE, absent=VALUE and raw.
void SetProperty(std::string_view text, FieldSpec& field) {
  std::string_view value = text;
  const std::string_view name = Take(value, '=');
  if (text == "raw") {
    field.is_raw = true;
    field.kind = FeatureKind::kBytes;
  } else if (name == "pad") {
    field.pad = EncodedItem(field.type, value);
  } else if (name == "absent" && field.IsFixed()) {
    const std::string item = EncodedItem(field.type, value);
    field.absent.emplace();
    for (std::int64_t i = 0; i < field.items(); ++i) {
      *field.absent += item;
    }
  } else if (name == "absent") {
    field.absent = value;
  } else {
    throw UsageError("\"" + std::string(text) +
                     "\" is none of pad=VALUE, absent=VALUE and raw");
  }
}

FieldSpec ReadField(std::string_view text) {
  if (text.find('=') == std::string_view::npos) {
    throw UsageError("give KEY=TYPE");
  }
  FieldSpec field = {.key = std::string(Take(text, '='))};
  const std::size_t type = text.find_first_of("[,");
  SetType(text.substr(0, type), field);
  text.remove_prefix(std::min(type, text.size()));
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    if (text.find(']') == std::string_view::npos) {
      throw UsageError("a shape ends with ]");
    }
    field.shape = ParseShape(Take(text, ']'));
  }
  if (text.starts_with(',')) {
    text.remove_prefix(1);
  }
  const FieldSpec sized = {.key = field.key, .shape = field.shape};
  CheckFields({&sized, 1});  // Before absent's value is repeated.
  while (!text.empty()) {
    SetProperty(Take(text, ','), field);
  }
  CheckFields({&field, 1});
  return field;
}

}  // namespace

FieldSpec ParseField(std::string_view text) {
  try {
    return ReadField(text);
  } catch (const UsageError& error) {
    throw UsageError("--field " + std::string(text) + ": " + error.what());
  }
}

void AddFieldFlag(CLI::App& app, std::vector<FieldSpec>& fields) {
  app.add_option_function<std::vector<std::string>>(
         "--field",
         [&fields](const std::vector<std::string>& texts) {
           fields.clear();
           for (const std::string& text : texts) {
             fields.push_back(ParseField(text));
           }
         },
         "A feature that batches carry, as txt=bytes or "
         "input_ids=int64[224],pad=0; may be given more than once.")
      ->type_name("KEY=TYPE[SHAPE]")
      ->allow_extra_args(false);
}

void AddObjectsFlag(CLI::App& app, ObjectsSpec& objects) {
  Rare(app.add_option_function<std::string>(
           "--objects",
           [&objects](const std::string& name) {
             objects = ObjectsPreset(name);
           },
           "Boxes that follow the images, under the keys of "
           "imagenet_to_records, TensorFlow's Object Detection API or "
           "TensorFlow Datasets."))
      ->type_name("infeed|tf|tfds");
}

}  // namespace infeed
