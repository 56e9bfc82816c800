#include "trainer/run_state.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json IdentityToJson(const RunIdentity& identity) {
  return {{"data_identity", identity.data_identity},
          {"seed", identity.seed},
          {"train_batch_size", identity.train_batch_size},
          {"image_size", identity.image_size},
          {"recipe", identity.recipe},
          {"scaled_decode", identity.scaled_decode},
          {"resnet_depth", identity.resnet_depth},
          {"num_label_classes", identity.num_label_classes}};
}

RunIdentity IdentityFromJson(const Json& json) {
  return {.data_identity = json.at("data_identity").get<std::string>(),
          .seed = json.at("seed").get<std::uint64_t>(),
          .train_batch_size = json.at("train_batch_size").get<int>(),
          .image_size = json.at("image_size").get<int>(),
          .recipe = json.at("recipe").get<std::string>(),
          // Older states do not have it.
          .scaled_decode = json.value("scaled_decode", false),
          .resnet_depth = json.at("resnet_depth").get<int>(),
          .num_label_classes = json.at("num_label_classes").get<int>()};
}

Checkpoint FromJson(const Json& json) {
  if (json.at("schema").get<int>() != kSchema) {
    throw DataError("written by another version: its schema is unknown");
  }
  const Json& stream = json.at("stream");
  if (stream.at("position").get<std::int64_t>() < 0) {
    throw DataError("the stream's position is negative");
  }
  return {.step = json.at("step").get<std::int64_t>(),
          .stream = {.epoch = stream.at("epoch").get<std::uint32_t>(),
                     .position = stream.at("position").get<std::int64_t>()},
          .identity = IdentityFromJson(json.at("identity")),
          .state = {}};
}

}  // namespace

std::string BuildRunState(const Checkpoint& checkpoint) {
  const Json json = {{"schema", kSchema},
                     {"step", checkpoint.step},
                     {"stream",
                      {{"epoch", checkpoint.stream.epoch},
                       {"position", checkpoint.stream.position}}},
                     {"identity", IdentityToJson(checkpoint.identity)}};
  return json.dump(2) + "\n";
}

Checkpoint ParseRunState(std::string_view text) {
  try {
    return FromJson(Json::parse(text.begin(), text.end()));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("not a run's state: {}", error.what()));
  }
}

}  // namespace infeed
