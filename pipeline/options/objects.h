#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "preprocess/recipe/options.h"
#include "records/example/fields.h"

namespace infeed {

// The boxes of each record, which follow its image, and lists with one value
// for each box, which are filtered with them.
struct ObjectsSpec {
  // Keys of lists of floats: one with all numbers of one box after the other,
  // or one for each of the four numbers, in the order of the format. Empty: no
  // boxes. A record without the keys has no boxes.
  std::vector<std::string> boxes = {};
  BoxFormat format = BoxFormat::kXyxy;
  bool is_normalized = false;  // parts of the image's sides, not pixels
  // Ragged fields, the label first; they are added to InputOptions::fields.
  std::vector<FieldSpec> lists = {};
  BoxFilter filter = {};

  [[nodiscard]] bool is_on() const { return !boxes.empty(); }

  friend bool operator==(const ObjectsSpec&, const ObjectsSpec&) = default;
};

// The objects of a known format: "infeed", as imagenet_to_records writes them;
// "tf", TensorFlow's Object Detection API; or "tfds", TensorFlow Datasets.
// Throws UsageError for another name.
[[nodiscard]] ObjectsSpec ObjectsPreset(std::string_view name);

// The field of a list whose kind is known by its key. Throws UsageError for
// other keys.
[[nodiscard]] FieldSpec KnownObjectList(std::string_view key);

// Fields that read the boxes.
[[nodiscard]] std::vector<FieldSpec> BoxFields(const ObjectsSpec& objects);

// Adds the lists to the fields that lack them. Throws UsageError for objects
// without images, other than 1 or 4 keys of boxes, a key of boxes that is also
// a field, and lists that are not ragged, or of another kind among the fields.
void AddObjectFields(const ObjectsSpec& objects, bool has_images,
                     std::vector<FieldSpec>& fields);

// Throws UsageError for an IoU crop without boxes.
void CheckIouCrop(const CropOptions& crop, const ObjectsSpec& objects);

}  // namespace infeed
