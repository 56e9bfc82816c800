#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/images/left_out.h"

// What images a folder holds and which class each belongs to.
// docs/converter.md shows the layouts.
namespace infeed {

class RawImages;
struct ObjectInfo;

struct ImageFile {
  std::string path;              // or a URL
  std::int32_t class_index = 0;  // into ImageTree::classes
  std::int64_t bytes = 0;
  // Its number in ImageTree::raw; -1: PATH is the file of this image alone.
  std::int64_t raw_index = -1;
  // Of an object in a store: its state when it was listed. Null for a file.
  std::shared_ptr<const ObjectInfo> object = nullptr;
};

struct ImageSplit {
  std::string name;               // train, validation or test
  std::vector<ImageFile> images;  // sorted by path within RAW, bytewise
};

struct ImageClass {
  std::string name;  // of its folder, or the synset of a label file
  std::string text;  // for people to read; the name where nothing else is known
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

struct ImageTree {
  std::vector<ImageClass>
      classes;                     // sorted by name, bytewise; label: index + 1
  std::vector<ImageSplit> splits;  // in the order train, validation, test
  std::vector<std::string> notes;  // on folders that were skipped, for the user
  std::vector<LeftOut> left_out;   // by kind and format
  bool has_split_folders = false;  // train/ and others, not plain class folders
  std::shared_ptr<const RawImages> raw;    // where images lie in raw files
  std::vector<DuplicateGroup> duplicates;  // where they were asked for
};

// Lists the images in a folder, or a "folder" of a bucket (s3://, gs://), of
// one of these layouts:
//
//   RAW/{train,validation|val,test}/<class>/*
//   RAW/<class>/*                                all of it is train
//   RAW/validation/* + RAW/synset_labels.txt     beside RAW/train/<class>/*;
//                                                line i is the i-th image's
//                                                class
//
// Images are told by their extension, in any case; hidden files and all others
// are counted in left_out. RAW/class_names.txt (or LOC_synset_mapping.txt)
// gives classes their text: a name, a space or tab, the text. Throws IoError
// for what cannot be read, UsageError when the folder has none of the layouts,
// DataError for a label file that does not fit.
[[nodiscard]] ImageTree FindImages(const std::string& raw_data_dir);

}  // namespace infeed
