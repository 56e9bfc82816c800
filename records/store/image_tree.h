#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The images of a folder and their classes. docs/converter.md shows the
// layouts.
namespace infeed {

class RawImages;
class RecordImages;
struct ImageObjects;
struct ObjectInfo;

struct ImageFile {
  std::string path;              // or a URL
  std::int32_t class_index = 0;  // into ImageTree::classes
  std::int64_t bytes = 0;
  // Its number in ImageTree::raw; -1: `path` is the file of this image alone.
  std::int64_t raw_index = -1;
  // The listed state of an object in a store. Null for a file.
  std::shared_ptr<const ObjectInfo> object = nullptr;
  // The records in one of which the image lies, and the record's number; path
  // is then "SHARD#NAME". Null for a file.
  std::shared_ptr<const RecordImages> records = nullptr;
  std::int64_t record = -1;
  // Its boxes, in place of a class. Null: it has a class.
  std::shared_ptr<const ImageObjects> objects = nullptr;
};

struct ImageSplit {
  std::string name;               // train, validation or test
  std::vector<ImageFile> images;  // sorted by path within RAW, bytewise
};

struct ImageClass {
  std::string name;  // of its folder, or the synset of a label file
  std::string text;  // readable name; `name` if none is known
};

// Image files of the same content.
struct DuplicateGroup {
  struct Image {
    std::string path;
    std::string class_name;
    std::string split;
  };
  std::vector<Image> images;  // in the order of the tree
};

// Files of one kind that a conversion ignores.
struct LeftOut {
  enum class Kind {
    kUnreadable,  // images of a format that cannot be read
    kOtherFiles,  // with names that are not those of images
  };
  Kind kind = Kind::kOtherFiles;
  std::string format;  // of kUnreadable: "GIF"; else empty
  std::int64_t count = 0;
  std::string example;  // the first one's path
};

struct ImageTree {
  // Sorted by name, bytewise; label: index + 1.
  std::vector<ImageClass> classes;
  std::vector<ImageSplit> splits;  // in the order train, validation, test
  std::vector<std::string> notes;  // on folders that were skipped, for the user
  std::vector<LeftOut> left_out;   // ignored files, by kind and format
  bool has_split_folders = false;  // train/ and others, not plain class folders
  std::shared_ptr<const RawImages> raw;    // images in raw files; null: none
  std::vector<DuplicateGroup> duplicates;  // if requested
};

// Lists the images in a folder, or a "folder" of a bucket (s3://, gs://), in
// one of the layouts of image_layout.h. Folders are walked to their end, links
// followed once (folder_listing.h).
//
// Images are recognized by their extension, upper or lower case; hidden files
// and all other files are counted in left_out. RAW/class_names.txt (or
// LOC_synset_mapping.txt, or words.txt) gives classes their text. Throws
// IoError when a file or folder cannot be read, UsageError when the folder has
// none of the layouts, DataError for a label file that does not match the
// images.
[[nodiscard]] ImageTree FindImages(const std::string& raw_data_dir);
// As the folder is read directly: image files that cannot be read count, too.
// nullopt: the folder has no images at all.
[[nodiscard]] std::optional<ImageTree> FindImageTree(
    const std::string& raw_data_dir);

// Adds to the count of a kind; the first example of a kind is kept.
void AddLeftOut(std::vector<LeftOut>& list, const LeftOut& more);

}  // namespace infeed
