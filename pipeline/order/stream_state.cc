#include "pipeline/order/stream_state.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/selection.h"
#include "records/bytes/hash_text.h"
#include "records/bytes/json.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

// The version of the format, not of the fields: a new field makes a different
// stream.
constexpr std::uint64_t kSchema = 1;

std::uint64_t WholeNumber(const Json& json, const char* name,
                          std::uint64_t highest) {
  const Json& value = json.at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > highest) {
    throw DataError(std::string(name) + " is " + value.dump() +
                    ", not a whole number from 0 to " +
                    std::to_string(highest));
  }
  return value.get<std::uint64_t>();
}

template <typename Integer>
Integer WholeNumber(const Json& json, const char* name) {
  return static_cast<Integer>(WholeNumber(
      json, name,
      static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())));
}

// 0 in states from before it.
std::uint64_t FingerprintFrom(const Json& json) {
  if (!json.contains("fingerprint")) {
    return 0;
  }
  const Json& value = json.at("fingerprint");
  const auto fingerprint = ParseHashText(value.get_ref<const std::string&>());
  if (!fingerprint) {
    throw DataError("fingerprint is " + value.dump() +
                    ", not 16 hexadecimal digits");
  }
  return *fingerprint;
}

StreamState FromJson(const Json& json) {
  const auto schema = WholeNumber<std::uint64_t>(json, "schema");
  if (schema > kSchema) {
    throw UsageError("the stream's state is of schema " +
                     std::to_string(schema) + ", this version reads " +
                     std::to_string(kSchema) + ": a later one wrote it");
  }
  StreamState state;
  state.position = {
      .epoch = WholeNumber<std::uint32_t>(json, "epoch"),
      .position = WholeNumber<std::int64_t>(json, "position"),
      .past_epochs = WholeNumber<std::uint32_t>(json, "past_epochs")};
  state.fingerprint = FingerprintFrom(json);
  const auto seed = WholeNumber<std::uint64_t>(json, "seed");
  state.identity = {{"seed", Json(seed).dump()},
                    {"data", json.at("data").dump()}};
  for (const auto& [name, value] : json.at("options").items()) {
    state.identity.push_back({name, value.dump()});
  }
  return state;
}

// The value of a field; nullptr: no field of that name.
const std::string* Find(const StreamState& state, std::string_view name) {
  const auto found = std::ranges::find(state.identity, name, &StateField::name);
  return found == state.identity.end() ? nullptr : &found->value;
}

// "batch_size is 64 here, 128 in the state; ...": lists all differences; empty:
// none.
std::string Differences(const StreamState& here, const StreamState& there) {
  std::string text;
  const auto add = [&text](const std::string& difference) {
    text += (text.empty() ? "" : "; ") + difference;
  };
  for (const auto& [name, value] : here.identity) {
    const std::string* const other = Find(there, name);
    if (other == nullptr) {
      add(name + " is " + ShownJson(value) + " here, missing in the state");
    } else if (*other != value) {
      add(name + " is " + ShownJson(value) + " here, " + ShownJson(*other) +
          " in the state");
    }
  }
  for (const auto& [name, value] : there.identity) {
    if (Find(here, name) == nullptr) {
      add(name + " is unknown here, " + ShownJson(value) + " in the state");
    }
  }
  return text;
}

Json ViewsJson(const InputOptions& options) {
  Json views = Json::array();
  for (const ViewSpec& view : options.views) {
    Json settings;
    for (const auto& [name, value] : ViewSettings(options, view)) {
      settings[name] = ParseJson<Json>(value);
    }
    views.push_back(settings);
  }
  return views;
}

// Boxes, which choose the window of an IoU crop.
Json ToJson(const ObjectsSpec& objects) {
  return {{"boxes", objects.boxes},
          {"format", ChoiceName(objects.format, kBoxFormats)},
          {"normalized", objects.is_normalized}};
}

bool HasIouCrop(const InputOptions& options) {
  return options.preprocess.crop.iou_crop ||
         std::ranges::any_of(options.views, [](const ViewSpec& view) {
           return view.preprocess.crop.iou_crop;
         });
}

// Options without a row that change batches.
void AddOtherFields(const InputOptions& options,
                    std::vector<StateField>& identity) {
  const auto add = [&](const char* name, const Json& value) {
    identity.push_back({name, value.dump()});
  };
  add("selection",
      options.selection ? Json(options.selection->identity()) : Json());
  add("eval_crops", options.preprocess.crop.eval_crops);
  add("max_scans", options.preprocess.limits.max_scans);
  add("max_memory_bytes", options.preprocess.limits.max_memory_bytes);
  if (!options.views.empty()) {
    add("views", ViewsJson(options));
  }
  if (HasIouCrop(options)) {
    add("objects", ToJson(options.objects));
  }
}

}  // namespace

std::vector<StateField> StreamIdentity(const RecordIndex& index,
                                       const InputOptions& options) {
  // An evaluation counts the labels of other data from another number.
  InputOptions checked = ComparedOptions(CheckedInputOptions(options), index);
  std::vector<StateField> identity = {{"seed", Json(checked.seed).dump()},
                                      {"data", Json(index.identity()).dump()}};
  InputOptions defaults;
  const auto is_unnamed = [&](const InputOption& option) {
    return option.unnamed_at_default &&
           JsonText(option.at(checked)) == JsonText(option.at(defaults));
  };
  for (const InputOption& option : InputOptionTable()) {
    if (option.affects_batches && option.name != "seed" &&
        !is_unnamed(option)) {
      identity.push_back(
          {std::string(option.name), JsonText(option.at(checked))});
    }
  }
  AddOtherFields(checked, identity);
  if (checked.rank_share != RankShare::kContiguous) {
    // The only field that a different number of ranks can change.
    const SampleOrder order(ShardSizes(index, checked.max_records), checked);
    identity.push_back(
        {"epoch_samples", Json(EpochSamples(order.places(), checked)).dump()});
  }
  return identity;
}

StreamState StateOf(const RecordIndex& index, const InputOptions& options,
                    const StreamPosition& position, std::uint64_t fingerprint) {
  return {.position = position,
          .fingerprint = fingerprint,
          .identity = StreamIdentity(index, options)};
}

std::string BuildStreamState(const StreamState& state) {
  Json json = {{"schema", kSchema},
               {"epoch", state.position.epoch},
               {"position", state.position.position},
               {"past_epochs", state.position.past_epochs},
               {"fingerprint", HashText(state.fingerprint)}};
  Json options = Json::object();
  for (const auto& [name, value] : state.identity) {
    const bool is_option = name != "seed" && name != "data";
    (is_option ? options : json)[name] = ParseJson<Json>(value);
  }
  json["options"] = std::move(options);
  return json.dump(2) + "\n";
}

StreamState ParseStreamState(std::string_view text) {
  try {
    return FromJson(ParseJson<Json>(text));
  } catch (const Json::exception& error) {
    throw DataError(std::string("not a stream's state: ") + JsonFault(error));
  }
}

void CheckResumable(const StreamState& state, const RecordIndex& index,
                    const InputOptions& options) {
  const std::string differences =
      Differences(StateOf(index, options, state.position), state);
  if (!differences.empty()) {
    throw UsageError("the state is another stream's: " + differences);
  }
}

StreamState ResumeState(std::string_view text, const RecordIndex& index,
                        const InputOptions& options) {
  StreamState state = ParseStreamState(text);
  CheckResumable(state, index, options);
  return state;
}

StreamPosition ResumePosition(std::string_view text, const RecordIndex& index,
                              const InputOptions& options) {
  return ResumeState(text, index, options).position;
}

}  // namespace infeed
