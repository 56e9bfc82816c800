#include "trainer/checkpoint/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/hash_text.h"
#include "records/bytes/json.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;  // of both files
constexpr std::size_t kMaxFiles = 16;

void RequireSchema(const Json& json) {
  if (json.at("schema").get<int>() != kSchema) {
    throw DataError("its schema is unknown: it was written by another version");
  }
}

std::uint32_t ParseCrc(const std::string& hex) {
  const auto crc = ParsePlainNumber<std::uint32_t>(hex, 16);
  if (!crc) {
    throw DataError("a checksum is not a number");
  }
  return *crc;
}

Manifest ReadFields(const Json& json) {
  RequireSchema(json);
  Manifest manifest{.step = json.at("step").get<std::int64_t>(), .files = {}};
  const Json& files = json.at("files");
  if (files.size() > kMaxFiles) {
    throw DataError("the manifest names too many files");
  }
  for (const Json& file : files) {
    manifest.files.push_back(
        {.name = file.at("file").get<std::string>(),
         .sum = {.size = file.at("size").get<std::int64_t>(),
                 .crc32c = ParseCrc(file.at("crc32c").get<std::string>())}});
  }
  return manifest;
}

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
  RequireSchema(json);
  const Json& stream = json.at("stream");
  if (stream.at("position").get<std::int64_t>() < 0) {
    throw DataError("the stream's position is negative");
  }
  // Checkpoints from before it have none.
  const auto fingerprint =
      ParseHashText(stream.value("fingerprint", HashText(0)));
  if (!fingerprint) {
    throw DataError("the stream's fingerprint is not 16 hexadecimal digits");
  }
  return {
      .step = json.at("step").get<std::int64_t>(),
      .stream = {.epoch = stream.at("epoch").get<std::uint32_t>(),
                 .position = stream.at("position").get<std::int64_t>(),
                 .past_epochs = stream.at("past_epochs").get<std::uint32_t>()},
      .fingerprint = *fingerprint,
      .identity = IdentityFromJson(json.at("identity")),
      .validation = IdentityFromJson(json.value("validation", Json::object())),
      .state = {}};
}

}  // namespace

std::string BuildManifest(const Manifest& manifest) {
  Json json = {
      {"schema", kSchema}, {"step", manifest.step}, {"files", Json::array()}};
  for (const Manifest::File& file : manifest.files) {
    json["files"].push_back(
        {{"file", file.name},
         {"size", file.sum.size},
         {"crc32c", fmt::format("{:08x}", file.sum.crc32c)}});
  }
  return json.dump() + "\n";
}

Manifest ParseManifest(std::string_view text) {
  Manifest manifest;
  try {
    manifest = ReadFields(ParseJson<Json>(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("not a manifest: {}", JsonFault(error)));
  }
  if (BuildManifest(manifest) != text) {
    throw DataError("the manifest has been changed since it was written");
  }
  return manifest;
}

std::string BuildRunState(const Checkpoint& checkpoint) {
  const Json json = {{"schema", kSchema},
                     {"step", checkpoint.step},
                     {"stream",
                      {{"epoch", checkpoint.stream.epoch},
                       {"position", checkpoint.stream.position},
                       {"past_epochs", checkpoint.stream.past_epochs},
                       {"fingerprint", HashText(checkpoint.fingerprint)}}},
                     {"identity", IdentityToJson(checkpoint.identity)},
                     {"validation", IdentityToJson(checkpoint.validation)}};
  return json.dump(2) + "\n";
}

Checkpoint ParseRunState(std::string_view text) {
  try {
    return FromJson(ParseJson<Json>(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("not a run's state: {}", JsonFault(error)));
  }
}

}  // namespace infeed
