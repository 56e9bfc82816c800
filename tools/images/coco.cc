#include "tools/images/coco.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/shard_set.h"
#include "records/files/split_names.h"
#include "tools/images/annotations.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

// COCO's largest file, that of train2017, has 448 MiB.
constexpr std::int64_t kMaxCocoBytes = std::int64_t{4} << 30;

// The members that are read; polygons and other large ones are not kept.
constexpr std::array<std::string_view, 3> kLists = {"images", "annotations",
                                                    "categories"};
constexpr std::array<std::string_view, 10> kMembers = {
    "id",   "file_name",   "width", "height", "image_id",
    "area", "category_id", "bbox",  "name",   "iscrowd"};

template <typename Names>
bool IsAmong(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != names.end();
}

struct CocoAnnotation {
  std::string id;
  std::string image_id;
  AnnotatedObject object;
};

struct CocoData {
  CocoFile file = {};  // whose images have no objects yet
  std::vector<CocoAnnotation> annotations = {};
};

// Throws the DataError of an element of a list. id: "" if it has none.
[[noreturn]] void FailInList(std::string_view list, const std::string& id,
                             const std::string& what) {
  throw DataError(std::string(list) + ": " +
                  (id.empty() ? "" : "id " + id + ": ") + what);
}

// One element of a list, whose members are checked as they are read.
class CocoElement {
 public:
  CocoElement(const Json& json, std::string_view list)
      : json_(json), list_(list) {}

  [[noreturn]] void Fail(const std::string& what) const {
    const auto id = json_.find("id");
    std::string text;
    if (id != json_.end() && (id->is_string() || id->is_number())) {
      text = id->is_string() ? id->get<std::string>() : id->dump();
    }
    FailInList(list_, text, what);
  }
  [[nodiscard]] bool Has(const char* name) const {
    return json_.contains(name);
  }

  [[nodiscard]] std::int64_t Whole(const char* name) const {
    const Json& value = Member(name);
    if (value.is_boolean()) {
      return value.get<bool>() ? 1 : 0;
    }
    const bool fits = !value.is_number_unsigned() ||
                      std::in_range<std::int64_t>(value.get<std::uint64_t>());
    return Checked(name, value, value.is_number_integer() && fits,
                   "a whole number")
        .get<std::int64_t>();
  }
  [[nodiscard]] std::int64_t Whole(const char* name,
                                   std::int64_t absent) const {
    return Has(name) ? Whole(name) : absent;
  }
  [[nodiscard]] float Number(const char* name) const {
    return Float(name, Member(name));
  }
  [[nodiscard]] std::string Text(const char* name) const {
    const Json& value = Member(name);
    return Checked(name, value, value.is_string(), "a string")
        .get<std::string>();
  }
  // An id is a number; some tools write strings.
  [[nodiscard]] std::string Id(const char* name) const {
    const Json& value = Member(name);
    return value.is_string() ? value.get<std::string>()
                             : std::to_string(Whole(name));
  }
  // x, y, w, h, whose corners are finite
  [[nodiscard]] std::array<float, 4> Box() const {
    const Json& value = Member("bbox");
    std::array<float, 4> box = {};
    (void)Checked("bbox", value, value.is_array() && value.size() == box.size(),
                  "a list of 4 numbers: x, y, w, h");
    for (std::size_t i = 0; i < box.size(); ++i) {
      box[i] = Float("bbox", value[i]);
    }
    if (!std::isfinite(box[0] + box[2]) || !std::isfinite(box[1] + box[3]) ||
        !std::isfinite(box[2] * box[3])) {
      Fail("bbox is too large");
    }
    return box;
  }

 private:
  [[nodiscard]] const Json& Member(const char* name) const {
    const auto member = json_.find(name);
    if (member == json_.end()) {
      Fail(std::string(name) + " is missing");
    }
    return *member;
  }
  const Json& Checked(const char* name, const Json& value, bool is_good,
                      const char* expected) const {
    if (!is_good) {
      Fail(std::string(name) + " is not " + expected);
    }
    return value;
  }
  [[nodiscard]] float Float(const char* name, const Json& value) const {
    const auto number =
        Checked(name, value, value.is_number(), "a number").get<double>();
    if (!(std::abs(number) <= std::numeric_limits<float>::max())) {
      Fail(std::string(name) + ": a number is not finite, or too large");
    }
    return static_cast<float>(number);
  }

  const Json& json_;
  std::string_view list_;
};

// Reads a file element by element, so that the parsed JSON, several times as
// large as the file, is never in memory.
class CocoParser {
 public:
  CocoData Parse(std::string_view text) {
    [[maybe_unused]] const Json rest = Json::parse(
        text.begin(), text.end(),
        [this](int depth, Json::parse_event_t event, const Json& value) {
          return Keeps(depth, event, value);
        });
    for (const std::string_view list : {kLists[0], kLists[1]}) {
      if (!IsAmong(list, lists_)) {
        throw DataError("has no list \"" + std::string(list) +
                        "\": expected COCO's instances_*.json");
      }
    }
    return std::move(data_);
  }

 private:
  static constexpr int kListDepth = 1;     // of a list's name and bracket
  static constexpr int kElementDepth = 2;  // of an element's brace
  static constexpr int kMemberDepth = 3;

  bool Keeps(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    CheckForm(depth, event);
    switch (event) {
      case Event::key:
        keeps_key_ = KeepsKey(depth, value.get_ref<const std::string&>());
        return keeps_key_;
      case Event::object_start:
      case Event::array_start:
        if (depth >= kMaxJsonDepth) {
          throw DataError("nested more than 32 levels deep");
        }
        return depth < kMemberDepth || keeps_key_;
      case Event::object_end:
        if (depth == kElementDepth) {
          Take(value);
          return false;
        }
        return true;
      default:
        return true;
    }
  }

  // Refuses what begins in place of a list, or of an element's brace.
  void CheckForm(int depth, Json::parse_event_t event) const {
    using Event = Json::parse_event_t;
    const bool begins = event == Event::array_start ||
                        event == Event::object_start || event == Event::value;
    const bool is_element = depth == kElementDepth;
    if (!begins || !(is_element || depth == kListDepth) ||
        !IsAmong(list_, kLists)) {
      return;
    }
    if (event != (is_element ? Event::object_start : Event::array_start)) {
      throw DataError("\"" + list_ + "\" is not a list" +
                      (is_element ? " of objects" : ""));
    }
  }

  bool KeepsKey(int depth, const std::string& key) {
    if (depth == kListDepth) {
      list_ = key;
      if (IsAmong(key, kLists)) {
        lists_.push_back(key);
        return true;
      }
      return false;
    }
    return depth == kMemberDepth && IsAmong(key, kMembers);
  }

  void Take(const Json& json) {
    const CocoElement element(json, list_);
    if (list_ == "images") {
      data_.file.images.push_back({.format = AnnotationFormat::kCoco,
                                   .source_id = element.Id("id"),
                                   .width = element.Whole("width", 0),
                                   .height = element.Whole("height", 0)});
      data_.file.names.push_back(element.Text("file_name"));
    } else if (list_ == "categories") {
      const std::int64_t id = element.Whole("id");
      if (!data_.file.labels.emplace(id, NameText(element.Text("name")))
               .second) {
        element.Fail("is there twice");
      }
    } else if (list_ == "annotations") {
      TakeAnnotation(element);
    }
  }

  void TakeAnnotation(const CocoElement& element) {
    CocoAnnotation annotation = {
        .id = element.Has("id") ? element.Id("id") : "",
        .image_id = element.Id("image_id"),
        .object = {}};
    const auto [x, y, width, height] = element.Box();
    const std::int64_t crowd = element.Whole("iscrowd", 0);
    if (crowd != 0 && crowd != 1) {
      element.Fail("iscrowd is neither 0 nor 1");
    }
    annotation.object = {
        .box = {x, y, x + width, y + height},
        .label = element.Whole("category_id"),
        .area = element.Has("area") ? element.Number("area") : width * height,
        .is_crowd = crowd == 1};
    data_.annotations.push_back(std::move(annotation));
  }

  CocoData data_;
  std::string list_;                // that is being read
  std::vector<std::string> lists_;  // that are there
  bool keeps_key_ = true;           // of the last key
};

// Gives each image its objects, in the order of the file.
CocoFile JoinObjects(CocoData data) {
  std::map<std::string_view, ImageObjects*> by_id;
  CocoFile& file = data.file;
  for (ImageObjects& image : file.images) {
    if (!by_id.emplace(image.source_id, &image).second) {
      throw DataError("images: id " + image.source_id + " is there twice");
    }
  }
  for (CocoAnnotation& annotation : data.annotations) {
    const auto image = by_id.find(annotation.image_id);
    if (image == by_id.end()) {
      FailInList("annotations", annotation.id,
                 "there is no image of the id " + annotation.image_id);
    }
    AnnotatedObject& object = annotation.object;
    const auto name = file.labels.find(object.label);
    if (name == file.labels.end()) {
      FailInList(
          "annotations", annotation.id,
          "there is no category of the id " + std::to_string(object.label));
    }
    object.text = name->second;
    image->second->objects.push_back(std::move(object));
  }
  return std::move(file);
}

CocoFile ReadFile(const std::string& file) {
  return InFile(PathForMessages(file), [&] {
    return ParseCoco(ReadWhole(file, kMaxCocoBytes, kNamedByUser));
  });
}

// The folders in which a file's images may lie, each with a slash at its end:
// of instances_train2017.json train2017/ among them.
std::vector<std::string> ImageFolders(const std::string& file) {
  const std::string name = FileNameOf(file);
  const std::string_view stem = WithoutExtension(name);
  const std::string last = std::string(stem.substr(stem.rfind('_') + 1)) + "/";
  return {"", last, "images/", "images/" + last};
}

bool IsBeside(const std::string& file, const std::string& name) {
  std::error_code ignored;
  return !IsUrl(file) &&
         std::filesystem::exists(
             std::filesystem::path(FolderOfShard(file)) / name, ignored);
}

const FolderEntry& FindImage(const AnnotatedFolder& folder,
                             const std::vector<std::string>& places,
                             const std::string& file, const std::string& name) {
  std::string slashes = name;  // Windows' paths have others.
  std::ranges::replace(slashes, '\\', '/');
  for (const std::string& written : {name, slashes}) {
    for (const std::string& place : places) {
      const std::string path =
          std::filesystem::path(place + written).lexically_normal().string();
      if (const FolderEntry* const image = folder.FindImage(path)) {
        return *image;
      }
    }
  }
  throw DataError({.path = PathForMessages(file)},
                  "images: " + name + " is neither in " +
                      PathForMessages(folder.PathOf("")) + " nor in its " +
                      places[1] + ", images/ or " + places[3] +
                      (IsBeside(file, slashes)
                           ? ", but beside the json: leave --raw_data_dir out"
                           : ""));
}

// Notes that objects have a label that is no class's. low: the least label.
void NoteLowLabel(std::int64_t low, const LabelNames& names, ImageTree& tree) {
  if (low < 1) {
    tree.notes.push_back(fmt::format(
        "--coco: objects have the category id {} (\"{}\"): labels are ids, so "
        "this one is the background for torchvision's models, and labels.txt "
        "has no line for it: number the json's categories from 1",
        low, names.at(low)));
  }
}

}  // namespace

CocoFile ParseCoco(std::string_view json) {
  CocoData data;
  try {
    data = CocoParser().Parse(json);
  } catch (const Json::out_of_range&) {
    throw DataError("a number is too large");
  } catch (const Json::exception& error) {
    throw DataError(JsonFault(error));
  }
  return JoinObjects(std::move(data));
}

ImageTree ReadCoco(const std::vector<std::string>& files,
                   const std::string& folder,
                   const AnnotationOptions& options) {
  std::map<std::string, AnnotatedFolder> folders;
  AnnotatedImages images(options);
  LabelNames names;
  std::int64_t low = 1;
  for (const std::string& file : files) {
    const std::string beside = FolderOfShard(file);
    const std::string base = !folder.empty()  ? folder
                             : beside.empty() ? "."
                                              : beside;
    const AnnotatedFolder& in = folders.try_emplace(base, base).first->second;
    CocoFile coco = ReadFile(file);
    for (const auto& [label, name] : coco.labels) {
      if (names.emplace(label, name).first->second != name) {
        throw DataError({.path = PathForMessages(file)},
                        fmt::format("categories: id {} is \"{}\" here and "
                                    "\"{}\" in another file",
                                    label, name, names.at(label)));
      }
    }
    RefuseTwoSplits(file);
    std::string_view split = SplitInName(FileNameOf(file));
    split = split.empty() ? SplitNamed(FileNameOf(beside)) : split;
    const std::vector<std::string> places = ImageFolders(file);
    for (std::size_t i = 0; i < coco.images.size(); ++i) {
      coco.images[i].file = PathForMessages(file);
      for (const AnnotatedObject& object : coco.images[i].objects) {
        low = std::min(low, object.label);
      }
      images.Add(split, in.FileOf(FindImage(in, places, file, coco.names[i])),
                 std::move(coco.images[i]));
    }
  }
  ImageTree tree = images.Finish(names, "--coco");
  NoteLowLabel(low, names, tree);
  return tree;
}

}  // namespace infeed
