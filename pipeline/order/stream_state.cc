#include "pipeline/order/stream_state.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/label_class.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/order/selection.h"
#include "records/bytes/json.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

// The version of the format, not of the fields: a new field makes a different
// stream.
constexpr std::uint64_t kSchema = 1;

Json AugmentToJson(const AugmentOptions& augment) {
  return {{"augment", ChoiceName(augment.policy, kAugmentPolicies)},
          {"augment_layers", augment.layers},
          {"augment_magnitude", augment.magnitude},
          {"brightness", augment.brightness},
          {"contrast", augment.contrast},
          {"saturation", augment.saturation},
          {"hue", augment.hue},
          {"random_erasing", augment.erasing}};
}

// Which of the options that earlier versions did not have are named: those that
// are not as they were then, or all.
enum class LaterOptions { kChanged, kAll };

void AddLaterOptions(const InputOptions& options, LaterOptions which,
                     Json& json) {
  const auto add = [&](const char* name, const auto& value,
                       const auto& before) {
    if (value != before || which == LaterOptions::kAll) {
      json[name] = value;
    }
  };
  const AugmentOptions& augment = options.augment;
  add("image_key", options.image_key, kImageKey);
  add("label_key", options.label_key, kLabelKey);
  add("crop_scale", options.crop.scale, 0);
  add("crop_ratio", options.crop.ratio, 0);
  add("eval_resize", options.crop.eval_resize, 0);
  add("eval_crop", options.crop.eval_crop, 0);
  add("eval_crops", options.crop.eval_crops, 1);
  add("augment_magnitude_std", augment.magnitude_std, 0);
  add("augment_interpolation", ChoiceName(augment.interpolation, kMoveFilters),
      ChoiceName(MoveFilter::kNearest, kMoveFilters));
  add("repeat_augment", options.repeat_augment, 1);
  add("random_flip_vertical", augment.vertical_flip, false);
  add("grayscale", augment.grayscale, 0);
  add("blur", augment.blur, 0);
  add("erasing_mode", ChoiceName(augment.erasing_mode, kErasingModes),
      ChoiceName(ErasingMode::kConstant, kErasingModes));
}

Json OptionsToJson(const InputOptions& options, LaterOptions later) {
  Json json = {
      {"batch_size", options.batch_size},
      {"rank_share", ChoiceName(options.rank_share, kRankShares)},
      {"last_batch", ChoiceName(options.last_batch, kLastBatches)},
      {"image_size", options.image_size},
      {"recipe", ChoiceName(options.recipe, kRecipes)},
      {"interpolation", ChoiceName(options.interpolation, kInterpolations)},
      {"training", options.training},
      {"random_flip", options.random_flip},
      {"shuffle", ChoiceName(options.shuffle, kShuffles)},
      {"window_shards", options.window_shards},
      {"window_records", options.window_records},
      {"label_offset", *options.label_offset},
      {"max_records", options.max_records},
      {"selection",
       options.selection ? Json(options.selection->identity()) : Json()},
      {"scaled_decode", options.scaled_decode},
      {"max_pixels", options.jpeg_limits.max_pixels},
      {"max_scans", options.jpeg_limits.max_scans},
      {"max_memory_bytes", options.jpeg_limits.max_memory_bytes}};
  json.update(AugmentToJson(options.augment));
  AddLaterOptions(options, later, json);
  return json;
}

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

StreamState FromJson(const Json& json) {
  const auto schema = WholeNumber<std::uint64_t>(json, "schema");
  if (schema > kSchema) {
    throw UsageError("the stream's state is of schema " +
                     std::to_string(schema) + ", this version reads " +
                     std::to_string(kSchema) + ": a later one wrote it");
  }
  StreamState state;
  const auto epoch = WholeNumber<std::uint32_t>(json, "epoch");
  state.position = {
      .epoch = epoch,
      .position = WholeNumber<std::int64_t>(json, "position"),
      // Earlier versions counted from epoch 0.
      .past_epochs = json.contains("past_epochs")
                         ? WholeNumber<std::uint32_t>(json, "past_epochs")
                         : epoch};
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
      add(name + " is " + value + " here, missing in the state");
    } else if (*other != value) {
      add(name + " is " + value + " here, " + *other + " in the state");
    }
  }
  for (const auto& [name, value] : there.identity) {
    if (Find(here, name) == nullptr) {
      add(name + " is unknown here, " + value + " in the state");
    }
  }
  return text;
}

std::vector<StateField> IdentityOf(const RecordIndex& index,
                                   const InputOptions& options,
                                   LaterOptions later) {
  const InputOptions checked =
      ResolvedOptions(CheckedInputOptions(options), index);
  std::vector<StateField> identity = {{"seed", Json(checked.seed).dump()},
                                      {"data", Json(index.identity()).dump()}};
  Json json = OptionsToJson(checked, later);
  if (checked.rank_share != RankShare::kContiguous) {
    // The only field that a different number of ranks can change.
    const SampleOrder order(ShardSizes(index, checked.max_records), checked);
    json["epoch_samples"] = EpochSamples(order.places(), checked);
  }
  for (const auto& [name, value] : json.items()) {
    identity.push_back({name, value.dump()});
  }
  return identity;
}

}  // namespace

StreamState StateOf(const RecordIndex& index, const InputOptions& options,
                    const StreamPosition& position) {
  return {.position = position,
          .identity = IdentityOf(index, options, LaterOptions::kChanged)};
}

std::vector<StateField> FullIdentityOf(const RecordIndex& index,
                                       const InputOptions& options) {
  return IdentityOf(index, options, LaterOptions::kAll);
}

std::string BuildStreamState(const StreamState& state) {
  Json json = {{"schema", kSchema},
               {"epoch", state.position.epoch},
               {"position", state.position.position},
               {"past_epochs", state.position.past_epochs}};
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

StreamPosition ResumePosition(std::string_view text, const RecordIndex& index,
                              const InputOptions& options) {
  const StreamState state = ParseStreamState(text);
  CheckResumable(state, index, options);
  return state.position;
}

}  // namespace infeed
