#pragma once

#include <string>

namespace infeed {

// How records lie in a file.
enum class RecordFormat {
  kTfrecord,  // frames (tfrecord/format.h)
  kTar,       // a sample is consecutive members of one key (tar_samples.h)
  kTarTree,   // an image is a member (archive_images.h)
  kZip,       // an image is an entry (zip_entry.h)
  kImage      // the file is one image (image_record.h)
};

// Whether records are the images of an archive's folders, which are classes.
[[nodiscard]] constexpr bool IsArchiveTree(RecordFormat format) {
  return format == RecordFormat::kTarTree || format == RecordFormat::kZip;
}

// The split to take from a file, "": all; and the split that the names of the
// file and its folder say, "": none, so it is train. The folders of a tree in
// an archive say more than its name. Files of TFRecords are taken whole.
struct ShardSplit {
  std::string wanted = {};
  std::string said = {};
};

}  // namespace infeed
