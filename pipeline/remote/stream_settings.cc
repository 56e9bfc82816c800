#include "pipeline/remote/stream_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/choices.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/objects.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/overloaded.h"
#include "pipeline/options/views.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

// Rows that a slot depends on, beside those of the preprocessing.
constexpr std::string_view kSlotRows[] = {"training",       "seed",
                                          "image_key",      "label_key",
                                          "label_offset",   "num_label_classes",
                                          "require_labels", "max_field_bytes",
                                          "input_hash"};

// Rows of the preprocessing that are not of the group Images.
constexpr std::string_view kLimitRows[] = {"lenient", "max_pixels"};

constexpr Choices<FeatureKind, 3> kListKinds = {
    {{"bytes", FeatureKind::kBytes},
     {"float", FeatureKind::kFloat},
     {"int64", FeatureKind::kInt64}}};

std::vector<InputOption> PreprocessRows() {
  std::vector<InputOption> rows = ViewOptions();
  for (const std::string_view name : kLimitRows) {
    rows.push_back(FindInputOption(name));
  }
  return rows;
}

// Calls work; names the setting in its errors.
template <typename Work>
auto ForSetting(std::string_view name, const Work& work) {
  try {
    return work();
  } catch (const Json::exception& error) {
    throw DataError("setting " + std::string(name) + ": " + JsonFault(error));
  } catch (const DataError& error) {
    throw DataError("setting " + std::string(name) + ": " + error.reason());
  }
}

// Bytes as two hexadecimal digits each.
Json BytesJson(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value >> 4];
    hex += kDigits[value & 0xF];
  }
  return hex;
}

std::string BytesFrom(const Json& json) {
  const auto& hex = json.get_ref<const std::string&>();
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const char* const end = hex.data() + std::min(at + 2, hex.size());
    unsigned char byte = 0;
    if (const auto [stop, error] =
            std::from_chars(hex.data() + at, end, byte, 16);
        error != std::errc() || stop != end) {
      throw DataError("bytes are not hexadecimal");
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// Text of any bytes, which JSON cannot hold.
Json TextJson(const std::string& text) {
  return IsUtf8(text) ? Json(text) : Json{{"hex", BytesJson(text)}};
}

std::string TextFrom(const Json& json) {
  return json.is_string() ? json.get<std::string>() : BytesFrom(json.at("hex"));
}

template <std::integral T>
T WholeFrom(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<std::uint64_t>())
                        : json.is_number_integer() &&
                              std::in_range<T>(json.get<std::int64_t>());
  if (!fits) {
    throw DataError("a number is not whole, or too large");
  }
  return json.get<T>();
}

template <std::floating_point T>
T RealFrom(const Json& json) {
  const auto value = json.get<double>();
  if (!json.is_number() ||
      !(std::abs(value) <= std::numeric_limits<T>::max())) {
    throw DataError("not a number, or too large");
  }
  return static_cast<T>(value);
}

template <typename Value, std::size_t kCount>
Value ChoiceFrom(const Json& json, const Choices<Value, kCount>& choices) {
  const Value* const value =
      FindChoice(json.get_ref<const std::string&>(), choices);
  if (value == nullptr) {
    throw DataError("a value is unknown here");
  }
  return *value;
}

ImageSize SizeFrom(const Json& json) {
  if (!json.is_string()) {
    return WholeFrom<int>(json);
  }
  const auto size = ParseImageSize(json.get_ref<const std::string&>());
  if (!size) {
    throw DataError("not a size");
  }
  return *size;
}

Json RowJson(const InputOption& row, InputOptions& options) {
  const OptionRef field = row.at(options);
  const auto* const text = std::get_if<std::string*>(&field);
  return text != nullptr ? TextJson(**text) : ParseJson<Json>(JsonText(field));
}

void SetFrom(const Json& json, const OptionRef& field) {
  std::visit(
      Overloaded{
          [&](std::string* text) { *text = TextFrom(json); },
          [&](bool* truth) { *truth = json.get<bool>(); },
          [&](ImageSize* size) { *size = SizeFrom(json); },
          [&](const ChoiceRef& choice) {
            // A number where the choice's name is one.
            const std::string name =
                json.is_string() ? json.get<std::string>() : json.dump();
            if (!choice.set(choice.field, name)) {
              throw DataError("a value is unknown here");
            }
          },
          [&]<std::floating_point T>(T* real) { *real = RealFrom<T>(json); },
          [&]<std::integral T>(T* whole) { *whole = WholeFrom<T>(json); }},
      field);
}

void SetRow(const InputOption& row, const Json& json, InputOptions& options) {
  ForSetting(row.name,
             [&] { SetFrom(json.at(std::string(row.name)), row.at(options)); });
}

Json PreprocessJson(const PreprocessOptions& preprocess) {
  InputOptions options = {.preprocess = preprocess};
  Json json = Json::object();
  for (const InputOption& row : PreprocessRows()) {
    json[std::string(row.name)] = RowJson(row, options);
  }
  json["eval_crops"] = preprocess.crop.eval_crops;
  json["max_scans"] = preprocess.limits.max_scans;
  json["max_memory_bytes"] = preprocess.limits.max_memory_bytes;
  return json;
}

PreprocessOptions PreprocessFrom(const Json& json) {
  InputOptions options;
  for (const InputOption& row : PreprocessRows()) {
    SetRow(row, json, options);
  }
  PreprocessOptions& preprocess = options.preprocess;
  const auto set = [&](const char* name, auto& field) {
    ForSetting(name, [&] { SetFrom(json.at(name), &field); });
  };
  set("eval_crops", preprocess.crop.eval_crops);
  set("max_scans", preprocess.limits.max_scans);
  set("max_memory_bytes", preprocess.limits.max_memory_bytes);
  return preprocess;
}

Json FieldJson(const FieldSpec& field) {
  return {{"key", TextJson(field.key)},
          {"kind", ChoiceName(field.kind, kListKinds)},
          {"shape", field.shape ? Json(*field.shape) : Json()},
          {"type", ChoiceName(field.type, kItemTypes)},
          {"raw", field.is_raw},
          {"pad", BytesJson(field.pad)},
          {"absent", field.absent ? BytesJson(*field.absent) : Json()}};
}

FieldSpec FieldFrom(const Json& json) {
  FieldSpec field = {.key = TextFrom(json.at("key")),
                     .kind = ChoiceFrom(json.at("kind"), kListKinds),
                     .type = ChoiceFrom(json.at("type"), kItemTypes),
                     .is_raw = json.at("raw").get<bool>(),
                     .pad = BytesFrom(json.at("pad"))};
  if (const Json& shape = json.at("shape"); !shape.is_null()) {
    field.shape.emplace();
    for (const Json& side : shape) {
      field.shape->push_back(WholeFrom<std::int64_t>(side));
    }
  }
  if (const Json& absent = json.at("absent"); !absent.is_null()) {
    field.absent = BytesFrom(absent);
  }
  return field;
}

template <typename Value, typename ToJson>
Json ListJson(const std::vector<Value>& values, const ToJson& to_json) {
  Json json = Json::array();
  for (const Value& value : values) {
    json.push_back(to_json(value));
  }
  return json;
}

template <typename FromJson>
auto ListFrom(const Json& json, const FromJson& from_json) {
  std::vector<decltype(from_json(json))> values;
  for (const Json& value : json) {
    values.push_back(from_json(value));
  }
  return values;
}

// Without BoxFilter::centre_in_window, which follows from other settings.
Json ObjectsJson(const ObjectsSpec& objects) {
  const BoxFilter& filter = objects.filter;
  return {{"boxes", ListJson(objects.boxes, TextJson)},
          {"format", ChoiceName(objects.format, kBoxFormats)},
          {"normalized", objects.is_normalized},
          {"lists", ListJson(objects.lists, FieldJson)},
          {"min_size", filter.min_size},
          {"min_area", filter.min_area},
          {"min_visible", filter.min_visible},
          {"keep", ChoiceName(filter.keep, kBoxKeeps)}};
}

ObjectsSpec ObjectsFrom(const Json& json) {
  return {.boxes = ListFrom(json.at("boxes"), TextFrom),
          .format = ChoiceFrom(json.at("format"), kBoxFormats),
          .is_normalized = json.at("normalized").get<bool>(),
          .lists = ListFrom(json.at("lists"), FieldFrom),
          .filter = {.min_size = RealFrom<float>(json.at("min_size")),
                     .min_area = RealFrom<float>(json.at("min_area")),
                     .min_visible = RealFrom<float>(json.at("min_visible")),
                     .keep = ChoiceFrom(json.at("keep"), kBoxKeeps)}};
}

Json ViewJson(const ViewSpec& view) {
  return {{"key", TextJson(view.key)},
          {"draws", view.draws ? Json(*view.draws) : Json()},
          {"labels", ChoiceName(view.content, kViewContents)},
          {"fill", view.fill},
          {"preprocess", PreprocessJson(view.preprocess)}};
}

ViewSpec ViewFrom(const Json& json) {
  ViewSpec view = {.key = TextFrom(json.at("key")),
                   .preprocess = PreprocessFrom(json.at("preprocess")),
                   .content = ChoiceFrom(json.at("labels"), kViewContents),
                   .fill = WholeFrom<int>(json.at("fill"))};
  if (const Json& draws = json.at("draws"); !draws.is_null()) {
    view.draws = WholeFrom<int>(draws);
  }
  return view;
}

InputOptions OptionsFrom(const Json& json) {
  InputOptions options;
  for (const std::string_view name : kSlotRows) {
    SetRow(FindInputOption(name), json, options);
  }
  options.preprocess = PreprocessFrom(json);
  ForSetting("images", [&] {
    options.layout = json.at("images").get<bool>() ? BatchContent::kRgb
                                                   : BatchContent::kNone;
  });
  ForSetting("wants_labels", [&] {
    options.wants_labels = json.at("wants_labels").get<bool>();
  });
  ForSetting("fields",
             [&] { options.fields = ListFrom(json.at("fields"), FieldFrom); });
  ForSetting("objects",
             [&] { options.objects = ObjectsFrom(json.at("objects")); });
  ForSetting("views",
             [&] { options.views = ListFrom(json.at("views"), ViewFrom); });
  // Any number that CheckedInputOptions() allows.
  options.batch_size = std::max(options.preprocess.crop.eval_crops, 1);
  return options;
}

// Throws unless the settings have each name once.
void CheckNames(std::span<const StateField> settings) {
  const std::vector<StateField> known = SlotSettings(InputOptions());
  for (const StateField& one : settings) {
    if (std::ranges::find(known, one.name, &StateField::name) == known.end()) {
      throw DataError("setting " + ShownText(one.name) + " is unknown here");
    }
  }
  for (const StateField& one : known) {
    const auto count =
        std::ranges::count(settings, one.name, &StateField::name);
    if (count != 1) {
      throw DataError("setting " + one.name +
                      (count == 0 ? " is missing" : " is given twice"));
    }
  }
}

}  // namespace

std::vector<StateField> SlotSettings(const InputOptions& options) {
  InputOptions read = options;  // Rows find the fields of changeable ones.
  Json json = Json::object();
  for (const std::string_view name : kSlotRows) {
    json[std::string(name)] = RowJson(FindInputOption(name), read);
  }
  json.update(PreprocessJson(options.preprocess));
  json["images"] = options.layout != BatchContent::kNone;
  json["wants_labels"] = options.wants_labels;
  json["fields"] = ListJson(options.fields, FieldJson);
  json["objects"] = ObjectsJson(options.objects);
  json["views"] = ListJson(options.views, ViewJson);
  std::vector<StateField> settings;
  for (const auto& [name, value] : json.items()) {
    settings.push_back({name, value.dump()});
  }
  return settings;
}

InputOptions OptionsOfSettings(std::span<const StateField> settings) {
  CheckNames(settings);
  Json json = Json::object();
  for (const StateField& one : settings) {
    json[one.name] =
        ForSetting(one.name, [&] { return ParseJson<Json>(one.value); });
  }
  InputOptions options = OptionsFrom(json);
  try {
    options = CheckedInputOptions(options);
  } catch (const UsageError& error) {
    throw DataError(std::string("settings: ") + error.what());
  }
  // Also finds what nobody read, such as an unknown name in a field.
  const std::vector<StateField> again = SlotSettings(options);
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i] != settings[i]) {
      throw DataError("setting " + settings[i].name +
                      " is not written as it would be here");
    }
  }
  return options;
}

std::uint64_t SlotsKey(std::span<const StateField> settings,
                       const std::string& data) {
  // No part has a byte 0.
  std::string text = std::to_string(kPixelsVersion) + '\0' + data + '\0';
  for (const StateField& one : settings) {
    text.append(one.name).append(1, '\0').append(one.value).append(1, '\0');
  }
  return FnvHash(text);
}

}  // namespace infeed
