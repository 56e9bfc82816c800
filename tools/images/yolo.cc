#include "tools/images/yolo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/text_lines.h"
#include "tools/cli/parallel_for.h"
#include "tools/images/annotations.h"
#include "tools/images/data_yaml.h"
#include "tools/images/key_points.h"
#include "tools/images/yolo_splits.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxLabelBytes = std::int64_t{16} << 20;

constexpr std::size_t kBoxNumbers = 5;      // class, centre, width, height
constexpr std::size_t kPolygonNumbers = 7;  // or more: class, three points
// Coordinates may be a little outside of the image, as in Ultralytics.
constexpr double kLeast = -0.01;
constexpr double kMost = 1.01;

std::vector<double> NumbersOf(std::string_view line) {
  std::vector<double> numbers;
  while (!(line = Trim(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    const std::optional<double> number = ReadNumber(word);
    if (!number) {
      throw DataError("not a number: '" + std::string(word.substr(0, 60)) +
                      "'");
    }
    numbers.push_back(*number);
    line.remove_prefix(word.size());
  }
  return numbers;
}

// In float32, as Ultralytics computes it.
std::array<float, 4> BoxAround(std::span<const double> center) {
  const auto at = [&](std::size_t i) { return static_cast<float>(center[i]); };
  const float width = at(2) / 2;
  const float height = at(3) / 2;
  return {at(0) - width, at(1) - height, at(0) + width, at(1) + height};
}

std::array<float, 4> HullOf(std::span<const double> points) {
  std::array<float, 4> box = {};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto value = static_cast<float>(points[i]);
    float& low = box[i % 2];
    float& high = box[2 + i % 2];
    low = i < 2 ? value : std::min(low, value);
    high = i < 2 ? value : std::max(high, value);
  }
  return box;
}

// A line with key points is a box, whatever the count of its numbers.
void CheckCount(std::size_t count, std::size_t key_point_numbers) {
  if (key_point_numbers > 0) {
    const std::size_t expected = kBoxNumbers + key_point_numbers;
    if (count != expected) {
      throw DataError("has " + CountText(count, "number") + ", expected " +
                      std::to_string(expected) +
                      " (a class, a box and the key points of kpt_shape)");
    }
  } else if (count != kBoxNumbers &&
             (count < kPolygonNumbers || count % 2 == 0)) {
    throw DataError("has " + CountText(count, "number") +
                    ", expected 5 (class, centre x, y, width, height) or a "
                    "class and a polygon; key points need kpt_shape in the "
                    "folder's data.yaml, or --kpt_shape");
  }
}

AnnotatedObject ReadObject(const std::vector<double>& numbers,
                           std::size_t key_point_numbers) {
  CheckCount(numbers.size(), key_point_numbers);
  const bool is_box = key_point_numbers > 0 || numbers.size() == kBoxNumbers;
  const double number = numbers.front();
  if (!(number >= 0 && number < kMostClasses && number == std::floor(number))) {
    throw DataError("the class is not a whole number from 0");
  }
  const std::span<const double> rest = std::span(numbers).subspan(
      1, is_box ? kBoxNumbers - 1 : std::dynamic_extent);
  for (const double value : rest) {
    if (!(value >= kLeast && value <= kMost)) {
      throw DataError(
          "a coordinate is not in 0 to 1, a part of the image's "
          "side");
    }
  }
  return {.box = is_box ? BoxAround(rest) : HullOf(rest),
          .label = static_cast<std::int64_t>(number) + 1};
}

// What all label files of a data set have in common.
struct LabelFormat {
  LabelNames names = {};  // empty: no file has names
  // Absent: nothing says whether there are key points.
  std::optional<std::size_t> key_point_numbers = {};
};

LabelFormat FindFormat(const AnnotatedFolder& folder,
                       const std::vector<DataYaml>& yamls,
                       const AnnotationOptions& options) {
  LabelFormat format = {.key_point_numbers = options.key_point_numbers};
  const std::string list = folder.FirstOf(
      {"classes.txt", "labels/classes.txt", "obj.names", "data/obj.names"});
  if (!options.class_list.empty()) {
    format.names = ReadLabelNames(options.class_list);
  } else if (!yamls.empty()) {
    format.names = yamls.front().names;
  } else if (!list.empty()) {
    format.names = ReadLabelNames(folder.PathOf(list));
  }
  if (!format.key_point_numbers && !yamls.empty()) {
    format.key_point_numbers = yamls.front().key_point_numbers;
  }
  return format;
}

// Names the classes of all objects. Without names, numbers are the names.
void NameClasses(LabelNames& names, std::vector<ImageObjects>& all) {
  const bool are_known = !names.empty();
  for (ImageObjects& image : all) {
    for (AnnotatedObject& object : image.objects) {
      const std::string number = std::to_string(object.label - 1);
      if (!are_known) {
        names.emplace(object.label, number);
      }
      const auto name = names.find(object.label);
      if (name == names.end()) {
        throw DataError({.path = image.file},
                        "there is no name of class " + number + " among the " +
                            CountText(names.size(), "class", "classes"));
      }
      object.text = name->second;
    }
  }
}

// A line with key points is a polygon by its count, with a wrong box.
void RefuseLikelyKeyPoints(const std::string& folder,
                           const std::vector<KeyPointSigns>& files) {
  KeyPointSigns signs;
  for (const KeyPointSigns& file : files) {
    signs.Add(file);
  }
  if (signs.AreFound()) {
    throw UsageError(
        PathForMessages(folder) + ": " + signs.Text() +
        ", which may be a polygon, or a box with key points, and the folder "
        "has no data.yaml: give --kpt_shape as kpt_shape is in the data set's "
        "data.yaml, such as 17,3, or --kpt_shape none for polygons");
  }
}

std::string LabelFileOf(std::string_view image) {
  const std::string beside = std::string(WithoutExtension(image)) + ".txt";
  std::string apart = WithFolder(beside, "images", "labels");
  return apart.empty() ? beside : apart;
}

}  // namespace

std::vector<AnnotatedObject> ParseYolo(std::string_view text,
                                       std::size_t key_point_numbers,
                                       KeyPointSigns* signs) {
  std::vector<AnnotatedObject> objects;
  std::set<std::pair<std::int64_t, std::array<float, 4>>> seen;
  std::size_t number = 0;
  for (const std::string& line : Lines(text)) {
    ++number;
    if (line.empty()) {
      continue;
    }
    try {
      const std::vector<double> numbers = NumbersOf(line);
      AnnotatedObject object = ReadObject(numbers, key_point_numbers);
      if (signs != nullptr) {
        signs->Add(numbers);
      }
      if (seen.emplace(object.label, object.box).second) {
        objects.push_back(std::move(object));
      }
    } catch (const DataError& error) {
      throw DataError("line " + std::to_string(number) + ": " + error.reason());
    }
  }
  return objects;
}

ImageTree ReadYolo(const std::string& folder,
                   const AnnotationOptions& options) {
  const AnnotatedFolder in(folder);
  std::vector<std::string> notes;
  const std::vector<DataYaml> yamls = ReadDataYamls(in, options, notes);
  YoloSplits found = FindYoloSplits(in, folder, yamls);
  std::vector<ImageObjects> all(found.images.size());
  bool has_labels = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].format = AnnotationFormat::kYolo;
    all[i].file = LabelFileOf(found.images[i].entry->name);
    has_labels |= in.files().contains(all[i].file);
  }
  if (!all.empty() && !has_labels) {
    throw UsageError(folder + ": no image has a label file: expected " +
                     all.front().file + " and the like");
  }
  LabelFormat format = FindFormat(in, yamls, options);
  std::vector<KeyPointSigns> signs(all.size());
  ParallelFor(all.size(), options.threads, [&](std::size_t i) {
    const std::string file = std::move(all[i].file);
    all[i].file = PathForMessages(in.PathOf(file));
    if (in.files().contains(file)) {
      InFile(all[i].file, [&] {
        all[i].objects =
            ParseYolo(in.Read(file, kMaxLabelBytes),
                      format.key_point_numbers.value_or(0), &signs[i]);
      });
    }
  });
  if (!format.key_point_numbers) {
    RefuseLikelyKeyPoints(folder, signs);
  }
  if (format.names.empty()) {
    found.notes.emplace_back(
        "--yolo: the names of the classes are their numbers, as there is no "
        "data.yaml, classes.txt or obj.names (--class_list names others)");
  }
  NameClasses(format.names, all);
  AnnotatedImages images(options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [entry, split] = found.images[i];
    images.Add(split, in.FileOf(*entry), std::move(all[i]));
  }
  ImageTree tree = images.Finish(format.names, "--yolo");
  std::ranges::move(notes, std::back_inserter(tree.notes));
  std::ranges::move(found.notes, std::back_inserter(tree.notes));
  return tree;
}

}  // namespace infeed
