#include "trainer/checkpoint/run_state.h"

#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/json.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateSchema = 1;

Json IdentityToJson(const RunIdentity& identity) {
  Json json = Json::object();
  for (const auto& [name, value] : identity) {
    json[name] = ParseJson<Json>(value);
  }
  return json;
}

RunIdentity IdentityFromJson(const Json& json) {
  RunIdentity identity;
  for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
    identity.push_back({name, value.dump()});
  }
  return identity;
}

Checkpoint FromJson(const Json& json) {
  if (json.at("schema").get<int>() != kStateSchema) {
    throw DataError("its schema is unknown: it was written by another version");
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
  const Json json = {{"schema", kStateSchema},
                     {"step", checkpoint.step},
                     {"stream",
                      {{"epoch", checkpoint.stream.epoch},
                       {"position", checkpoint.stream.position}}},
                     {"identity", IdentityToJson(checkpoint.identity)}};
  return json.dump(2) + "\n";
}

Checkpoint ParseRunState(std::string_view text) {
  try {
    return FromJson(ParseJson<Json>(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("not a run's state: {}", error.what()));
  }
}

}  // namespace infeed
