#include "tools/images/data_yaml.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "tools/images/key_points.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxYamlBytes = std::int64_t{1} << 20;

[[noreturn]] void FailInYaml(const YAML::Exception& error,
                             const std::string& what) {
  throw DataError("line " + std::to_string(error.mark.line + 1) + ": " + what);
}

YAML::Node LoadYaml(const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::ParserException& error) {
    FailInYaml(error, "not YAML");
  }
}

// The names in a data.yaml: a list, or a map from the numbers.
LabelNames NamesInYaml(const YAML::Node& root) {
  LabelNames names;
  const auto add = [&](std::int64_t number, const YAML::Node& name) {
    if (number < 0 || number >= kMostClasses) {
      throw DataError("names: a number of a class is out of range");
    }
    names.emplace(number + 1, NameText(name.as<std::string>()));
  };
  try {
    const YAML::Node list = root.IsMap() ? root["names"] : YAML::Node();
    if (!list.IsDefined()) {
      throw DataError("has no names");
    }
    if (list.IsMap()) {
      for (const auto& entry : list) {
        add(entry.first.as<std::int64_t>(), entry.second);
      }
    } else if (list.IsSequence()) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        add(static_cast<std::int64_t>(i), list[i]);
      }
    }
  } catch (const YAML::Exception& error) {
    FailInYaml(error,
               "names: expected a list of names, or a map from numbers to "
               "names");
  }
  if (names.empty()) {
    throw DataError("has no names");
  }
  return names;
}

// The numbers of a pose data set's key points in each line, 0 for others: its
// data.yaml has `kpt_shape: [points, numbers of a point]`.
std::size_t KeyPointNumbers(const YAML::Node& root) {
  constexpr const char* kExpected =
      "kpt_shape: expected [number of key points, 2 or 3]";
  if (!root.IsMap() || !root["kpt_shape"].IsDefined()) {
    return 0;
  }
  try {
    const auto shape = root["kpt_shape"].as<std::vector<std::int64_t>>();
    const auto numbers = shape.size() == 2
                             ? KeyPointNumbersOf(shape[0], shape[1])
                             : std::nullopt;
    if (!numbers) {
      throw DataError(kExpected);
    }
    return *numbers;
  } catch (const YAML::Exception& error) {
    FailInYaml(error, kExpected);
  }
}

// `train`, `val` and `test`: each a path or a list of paths.
void ReadEntries(const YAML::Node& root, DataYaml& data) {
  if (!root.IsMap()) {
    return;
  }
  const auto add = [&](const char* key, const YAML::Node& path) {
    if (std::string text = path.as<std::string>(); !text.empty()) {
      data.entries.push_back(
          {.key = key, .split = SplitNamed(key), .path = std::move(text)});
    }
  };
  for (const char* key : {"train", "val", "valid", "validation", "test"}) {
    const YAML::Node node = root[key];
    try {
      if (node.IsDefined() && node.IsSequence()) {
        for (const YAML::Node& path : node) {
          add(key, path);
        }
      } else if (node.IsDefined() && !node.IsNull()) {
        add(key, node);
      }
    } catch (const YAML::Exception& error) {
      FailInYaml(error, std::string(key) +
                            ": expected a folder, a .txt list, or several");
    }
  }
  const YAML::Node path = root["path"];
  data.root = path.IsDefined() && path.IsScalar() ? path.Scalar() : "";
}

DataYaml ParseDataYaml(const std::string& text,
                       const AnnotationOptions& options) {
  const YAML::Node root = LoadYaml(text);
  DataYaml data;
  if (!options.key_point_numbers) {
    data.key_point_numbers = KeyPointNumbers(root);
  }
  if (options.class_list.empty() ||
      (root.IsMap() && root["names"].IsDefined())) {
    data.names = NamesInYaml(root);
  }
  ReadEntries(root, data);
  return data;
}

// The number of a class means the same in all label files.
void RefuseContradiction(const AnnotatedFolder& folder, const DataYaml& one,
                         const DataYaml& other) {
  const bool have_names = !one.names.empty() && !other.names.empty();
  if ((have_names && one.names != other.names) ||
      one.key_point_numbers != other.key_point_numbers) {
    throw DataError({.path = PathForMessages(folder.PathOf(other.file))},
                    std::string("has other names or another kpt_shape than ") +
                        PathForMessages(folder.PathOf(one.file)) +
                        ": convert their folders one by one, or give their "
                        "labels the same numbers");
  }
}

bool IsYaml(std::string_view path) {
  const std::string extension = LowerCase(Extension(path));
  return extension == "yaml" || extension == "yml";
}

// Whether a line of a text that is not YAML begins as one of a data.yaml.
bool LooksLikeDataYaml(std::string_view text) {
  for (const std::string_view key : {"names:", "train:"}) {
    const std::size_t found = text.find(key);
    if (found != std::string_view::npos &&
        (found == 0 || text[found - 1] == '\n')) {
      return true;
    }
  }
  return false;
}

// Whether a YAML file, such as coco8.yaml, describes a data set. One that is
// not YAML and would not describe any is noted.
bool DescribesData(const AnnotatedFolder& folder, const std::string& file,
                   std::vector<std::string>& notes) {
  const std::string path = PathForMessages(folder.PathOf(file));
  std::string text;
  try {
    text = folder.Read(file, kMaxYamlBytes);
    const YAML::Node root = LoadYaml(text);
    return root.IsMap() &&
           (root["names"].IsDefined() || root["train"].IsDefined());
  } catch (const DataError& error) {
    if (LooksLikeDataYaml(text)) {
      throw error.At({.path = path});
    }
    notes.push_back("--yolo: " + path + " is ignored: " + error.reason());
    return false;
  }
}

// Each data.yaml; without any, the file of another name in RAW.
std::vector<std::string> FindDataYamls(const AnnotatedFolder& folder,
                                       std::vector<std::string>& notes) {
  std::vector<std::string> found;
  for (const std::string& file : folder.files()) {
    if (IsYaml(file) && LowerCase(WithoutExtension(BaseName(file))) == "data") {
      found.push_back(file);
    }
  }
  if (!found.empty()) {
    return found;
  }
  for (std::string& file : folder.FilesIn("")) {
    if (IsYaml(file) && DescribesData(folder, file, notes)) {
      found.push_back(std::move(file));
    }
  }
  if (found.size() > 1) {
    throw UsageError(PathForMessages(folder.PathOf(found[0])) + " and " +
                     found[1] +
                     " describe the data set: rename the right one data.yaml");
  }
  return found;
}

}  // namespace

std::vector<DataYaml> ReadDataYamls(const AnnotatedFolder& folder,
                                    const AnnotationOptions& options,
                                    std::vector<std::string>& notes) {
  std::vector<DataYaml> found;
  for (const std::string& file : FindDataYamls(folder, notes)) {
    found.push_back(InFile(PathForMessages(folder.PathOf(file)), [&] {
      return ParseDataYaml(folder.Read(file, kMaxYamlBytes), options);
    }));
    found.back().file = file;
    RefuseContradiction(folder, found.front(), found.back());
  }
  return found;
}

}  // namespace infeed
