#include "tools/inspect/record_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "tools/cli/image_format.h"
#include "tools/cli/safe_name.h"
#include "tools/inspect/file_below.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 256;

// Whether bytes may be shown as text.
bool IsText(std::string_view bytes) {
  return bytes.size() <= kLongestText && !HasControl(bytes) && IsUtf8(bytes);
}

// Converts the values of one feature to JSON.
class FeatureToJson {
 public:
  // Bytes that are not text are written to FOLDER/PREFIX.EXTENSION; with folder
  // "" they are not written.
  FeatureToJson(std::string folder, std::string prefix)
      : folder_(std::move(folder)), prefix_(std::move(prefix)) {}

  Json operator()(std::monostate /*none*/) const { return nullptr; }
  // A list of one value as that value.
  template <typename T>
  Json operator()(const std::vector<T>& values) const {
    if (values.size() == 1) {
      return Value(values.front(), "");
    }
    Json list = Json::array();
    for (std::size_t i = 0; i < values.size(); ++i) {
      list.push_back(Value(values[i], fmt::format("-{}", i)));
    }
    return list;
  }

 private:
  Json Value(float value, const std::string& /*suffix*/) const { return value; }
  Json Value(std::int64_t value, const std::string& /*suffix*/) const {
    return value;
  }
  Json Value(std::string_view bytes, const std::string& suffix) const {
    if (IsText(bytes)) {
      return bytes;
    }
    Json json = {{"bytes", bytes.size()}};
    if (!folder_.empty()) {
      const auto content = std::as_bytes(std::span(bytes));
      const std::string name =
          fmt::format("{}{}.{}", prefix_, suffix,
                      FileExtension(DetectImageFormat(content)));
      WriteFileBelow(folder_, name, content);
      json["file"] = folder_ + "/" + name;
    }
    return json;
  }

  std::string folder_;
  std::string prefix_;
};

std::string FilePrefix(const std::string& path, const Record& record,
                       std::string_view key) {
  const std::string shard = FileNameOf(path);
  return SafeName(fmt::format("{}-{:06}-{}", shard, record.number, key));
}

}  // namespace

std::string RecordJsonLine(const std::string& path, const Record& record,
                           const RecordJsonOptions& options) {
  // The keys are distinct, so they are appended without a linear search for the
  // key.
  Json::object_t features;
  for (const ExampleFeature& feature : ListFeatures(record.payload)) {
    if (options.keys.empty() ||
        std::find(options.keys.begin(), options.keys.end(), feature.key) !=
            options.keys.end()) {
      features.emplace_back(
          std::string(feature.key),
          std::visit(FeatureToJson(options.bytes_to,
                                   FilePrefix(path, record, feature.key)),
                     feature.values));
    }
  }
  const Json line = {{"file", PathForMessages(path)},
                     {"record", record.number},
                     {"offset", record.offset},
                     {"bytes", record.payload.size()},
                     {"features", std::move(features)}};
  return ShownJson(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace infeed
