#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/folder_listing.h"
#include "records/store/image_tree.h"

// Boxes of images, read from the annotations of a detection data set.
// docs/converter.md has the formats.
namespace infeed {

enum class AnnotationFormat { kCoco, kVoc, kYolo };

struct AnnotatedObject {
  // x1, y1, x2, y2: pixels, or parts of the image's sides (kYolo).
  std::array<float, 4> box = {};
  std::int64_t label = 0;
  std::string text = {};      // the class's name; empty: unknown
  float area = 0;             // of kCoco
  bool is_crowd = false;      // of kCoco
  bool is_difficult = false;  // of kVoc

  friend bool operator==(const AnnotatedObject&,
                         const AnnotatedObject&) = default;
};

struct ImageObjects {
  AnnotationFormat format = AnnotationFormat::kCoco;
  std::vector<AnnotatedObject> objects = {};
  std::string file = {};       // with the annotations, for messages
  std::string source_id = {};  // empty: none
  // The image's size in the file; 0: none is there.
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::string mask = {};  // path of a PNG of classes; empty: none
};

struct AnnotationOptions {
  bool drop_crowds = false;
  bool drop_difficult = false;
  bool drop_empty = false;  // images without objects
  bool voc_from_one = false;
  std::string voc_set = "Main";  // folder in ImageSets
  // A file of class names, of which line i has label i; empty: none.
  std::string class_list = {};
  // Of YOLO's key points in each line (--kpt_shape); 0: none are there; absent:
  // data.yaml says so.
  std::optional<std::size_t> key_point_numbers = {};
  int threads = 0;  // as for ParallelFor()
};

// Names of classes by their labels.
using LabelNames = std::map<std::int64_t, std::string>;

// Reads the names in a class list. Throws IoError, DataError.
[[nodiscard]] LabelNames ReadLabelNames(const std::string& class_list);

// The number that all of a text is, perhaps not finite; nullopt: it is none.
[[nodiscard]] std::optional<double> ReadNumber(std::string_view text);

// Collects the annotated images of a data set. Leaves out objects whose box is
// empty (x2 <= x1 or y2 <= y1), and what the options drop, and counts them.
class AnnotatedImages {
 public:
  explicit AnnotatedImages(const AnnotationOptions& options)
      : options_(options) {}

  // Adds an image to a split (split_names.h); "" is the train of a data set
  // that is not divided.
  void Add(std::string_view split, ImageFile image, ImageObjects objects);

  // The images, sorted by path, and in the notes the number of objects and what
  // was left out. The classes are names[1] and so on: labels in between are
  // "N/A", others have no class. Throws DataError for an image that was added
  // twice, UsageError if there are no images.
  [[nodiscard]] ImageTree Finish(const LabelNames& names,
                                 const std::string& data);

 private:
  void Filter(std::vector<AnnotatedObject>& objects);
  [[nodiscard]] std::string CountsText() const;

  AnnotationOptions options_;
  std::map<std::string, std::vector<ImageFile>, std::less<>> splits_;
  std::set<std::string> paths_;
  bool is_divided_ = false;
  std::int64_t images_ = 0;
  std::int64_t images_with_objects_ = 0;
  std::int64_t objects_ = 0;
  std::int64_t empty_boxes_ = 0;
  std::int64_t crowds_ = 0;
  std::int64_t difficult_ = 0;
  std::int64_t empty_images_ = 0;
};

// The files below a folder, or a "folder" of a bucket, in which images and
// annotations are found by their paths. Paths are relative, with "/".
class AnnotatedFolder {
 public:
  // Throws IoError, UsageError.
  explicit AnnotatedFolder(const std::string& folder);

  // Sorted by name, bytewise.
  [[nodiscard]] const std::vector<FolderEntry>& images() const {
    return images_;
  }
  // Null: there is no image of that path.
  [[nodiscard]] const FolderEntry* FindImage(std::string_view path) const;
  // The first image of that path and any image's extension.
  [[nodiscard]] const FolderEntry* FindImageOf(std::string_view stem) const;
  // Files other than images.
  [[nodiscard]] const std::set<std::string, std::less<>>& files() const {
    return files_;
  }
  // Those directly in a folder, given with a slash at its end, or "".
  [[nodiscard]] std::vector<std::string> FilesIn(std::string_view folder) const;
  // The first of some files that is there, or "".
  [[nodiscard]] std::string FirstOf(
      const std::vector<std::string>& paths) const;

  [[nodiscard]] std::string PathOf(std::string_view path) const {
    return root_ + std::string(path);
  }
  [[nodiscard]] ImageFile FileOf(const FolderEntry& image) const {
    return {.path = PathOf(image.name),
            .bytes = image.bytes,
            .object = image.object};
  }
  // Throws IoError, also for more than max_bytes.
  [[nodiscard]] std::string Read(std::string_view path,
                                 std::int64_t max_bytes) const;

 private:
  std::string root_;  // with a slash at its end
  std::vector<FolderEntry> images_;
  std::set<std::string, std::less<>> files_;
};

// The split that a folder of a path is named after, also with a number behind
// it (train2017); "" if none is.
[[nodiscard]] std::string_view SplitInPath(std::string_view path);

// The same of each image of a folder; "" for all where the only such names are
// train with a number. Throws UsageError if other folders seem to be splits.
[[nodiscard]] std::vector<std::string_view> SplitsInPaths(
    const std::string& folder, const std::vector<std::string_view>& paths);

[[nodiscard]] std::string_view WithoutExtension(std::string_view path);

// The path with its last folder of that name, in any case, named otherwise; ""
// if it has none.
[[nodiscard]] std::string WithFolder(std::string_view path,
                                     std::string_view name,
                                     std::string_view other);

}  // namespace infeed
