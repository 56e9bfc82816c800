#include "pipeline/options/objects.h"

#include <algorithm>
#include <utility>

#include "base/choices.h"
#include "base/error.h"

namespace infeed {
namespace {

enum class KnownObjects { kInfeed, kTf, kTfds };

constexpr Choices<KnownObjects, 3> kKnownObjects = {
    {{"infeed", KnownObjects::kInfeed},
     {"tf", KnownObjects::kTf},
     {"tfds", KnownObjects::kTfds}}};

constexpr std::pair<std::string_view, FeatureKind> kKnownLists[] = {
    {"image/object/class/label", FeatureKind::kInt64},
    {"image/object/class/text", FeatureKind::kBytes},
    {"image/object/area", FeatureKind::kFloat},
    {"image/object/weight", FeatureKind::kFloat},
    {"image/object/is_crowd", FeatureKind::kInt64},
    {"image/object/difficult", FeatureKind::kInt64},
    {"image/object/group_of", FeatureKind::kInt64},
    {"objects/label", FeatureKind::kInt64},
    {"objects/id", FeatureKind::kInt64},
    {"objects/area", FeatureKind::kInt64},
    {"objects/is_crowd", FeatureKind::kInt64},
    {"objects/is_difficult", FeatureKind::kInt64},
    {"objects/is_truncated", FeatureKind::kInt64},
};

[[noreturn]] void Refuse(const std::string& what) {
  throw UsageError("objects: " + what);
}

void AddList(const FieldSpec& list, std::vector<FieldSpec>& fields) {
  if (list.shape) {
    Refuse("'" + list.key + "' has a shape: lists of objects have none");
  }
  const auto known = std::ranges::find(fields, list.key, &FieldSpec::key);
  if (known == fields.end()) {
    fields.push_back(list);
  } else if (*known != list) {
    Refuse("'" + list.key + "' is also in fields, as another field");
  }
}

}  // namespace

ObjectsSpec ObjectsPreset(std::string_view name) {
  const std::string box = "image/object/bbox/";
  switch (ParseChoice("objects", name, kKnownObjects)) {
    case KnownObjects::kInfeed:
      return {.boxes = {"image/object/bbox"},
              .lists = {KnownObjectList("image/object/class/label")}};
    case KnownObjects::kTf:
      return {.boxes = {box + "xmin", box + "ymin", box + "xmax", box + "ymax"},
              .format = BoxFormat::kXyxy,
              .is_normalized = true,
              .lists = {KnownObjectList("image/object/class/label")}};
    case KnownObjects::kTfds:
      break;
  }
  return {.boxes = {"objects/bbox"},
          .format = BoxFormat::kYxyx,
          .is_normalized = true,
          .lists = {KnownObjectList("objects/label")}};
}

FieldSpec KnownObjectList(std::string_view key) {
  for (const auto& [known, kind] : kKnownLists) {
    if (known == key) {
      return {.key = std::string(key), .kind = kind};
    }
  }
  Refuse("the kind of '" + std::string(key) +
         "' is not known: give it among fields too");
}

std::vector<FieldSpec> BoxFields(const ObjectsSpec& objects) {
  std::vector<FieldSpec> fields;
  for (const std::string& key : objects.boxes) {
    fields.push_back({.key = key, .kind = FeatureKind::kFloat});
  }
  return fields;
}

void AddObjectFields(const ObjectsSpec& objects, bool has_images,
                     std::vector<FieldSpec>& fields) {
  if (!objects.is_on()) {
    if (!objects.lists.empty()) {
      Refuse("lists without boxes: give the boxes' keys");
    }
    return;
  }
  if (!has_images) {
    Refuse("boxes follow images, and layout=none has none");
  }
  if (objects.boxes.size() != 1 && objects.boxes.size() != 4) {
    Refuse("boxes have 1 key or 4, not " +
           std::to_string(objects.boxes.size()));
  }
  for (const FieldSpec& list : objects.lists) {
    AddList(list, fields);
  }
  std::vector<FieldSpec> all = fields;
  std::ranges::copy(BoxFields(objects), std::back_inserter(all));
  CheckFields(all);
}

void CheckIouCrop(const CropOptions& crop, const ObjectsSpec& objects) {
  if (crop.iou_crop && !objects.is_on()) {
    throw UsageError(
        "iou_crop chooses crops by the boxes of the records: give objects, or "
        "leave it out");
  }
}

}  // namespace infeed
