#include "trainer/checkpoint/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/json.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kManifestSchema = 1;
constexpr std::size_t kMaxFiles = 16;

std::uint32_t ParseCrc(const std::string& hex) {
  const auto crc = ParsePlainNumber<std::uint32_t>(hex, 16);
  if (!crc) {
    throw DataError("a checksum is not a number");
  }
  return *crc;
}

Manifest ReadFields(const Json& json) {
  if (json.at("schema").get<int>() != kManifestSchema) {
    throw DataError("its schema is unknown: it was written by another version");
  }
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

}  // namespace

std::string BuildManifest(const Manifest& manifest) {
  Json json = {{"schema", kManifestSchema},
               {"step", manifest.step},
               {"files", Json::array()}};
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
    throw DataError(fmt::format("not a manifest: {}", error.what()));
  }
  if (BuildManifest(manifest) != text) {
    throw DataError("the manifest has been changed since it was written");
  }
  return manifest;
}

}  // namespace infeed
