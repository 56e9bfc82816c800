#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// From the paths of a tree's images to splits and classes: the one rule for
// folders, zips and tars. docs/converter.md shows the layouts.
namespace infeed {

// A tree's files. Paths are relative, with "/" between folders.
struct TreeFiles {
  std::string root;  // before a path in messages: "photos/", "photos.zip#"
  std::vector<std::string_view> images = {};
  std::vector<std::string_view> others = {};  // label files among them
  // Returns the text of one of `others`.
  std::function<std::string(std::string_view path)> read = {};
};

struct LaidOutImage {
  std::size_t file = 0;           // into TreeFiles::images
  std::int32_t class_index = -1;  // into classes; -1: no class
  std::int32_t split = 0;         // into kSplits
};

struct ImageLayout {
  // The classes of all splits, sorted bytewise, so that a class has one number
  // in every split. Names are text (NameText()): folders of the same text are
  // one class.
  std::vector<std::string> classes = {};
  std::vector<LaidOutImage> images = {};  // by split, then by path, bytewise
  std::vector<std::string> notes = {};    // on images left out, for the user
  bool has_splits = false;                // else all of it is train
  std::string folder = {};  // that all images share: "", or "photos/"
};

// The label files of an archive are not read beyond it.
inline constexpr std::int64_t kMaxLabelFileBytes = std::int64_t{64} << 20;

// Whether a file of that base name may be read for classes or their texts.
[[nodiscard]] bool IsLabelFile(std::string_view base_name);

// Layouts, below the folders that all images share:
//
//   SPLIT/<class>/**        SPLIT: any name of a split (split_names.h), once
//   <class>/**              all of it is train
//   SPLIT/*                 ImageNet's validation: with synset_labels.txt
//                           beside it, whose line i is the class of image i; or
//                           with SPLIT/val_annotations.txt (Tiny ImageNet),
//                           whose lines begin with a file and its class
//   SPLIT/*, *              names WORD.NUMBER.EXT (cat.0.jpg): WORD is the
//   class
//   *                       the folder that all share is the class
//
// A folder "images" in the place of all classes is walked through, folders
// inside a class belong to it. A folder is a split only where one of that kind
// has classes or all images are in such folders: a class may be named "train".
//
// Images of a split without classes are a UsageError with the layouts; those
// of a test split beside others are left out with a note, as are images beside
// class folders without a label file and beside splits. Without any split or
// class, images have no class. Throws UsageError, and DataError for a label
// file that does not match and for a class whose name has a control character.
[[nodiscard]] ImageLayout LayOutImages(const TreeFiles& files);

}  // namespace infeed
