#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "records/store/image_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed {

// A raw data folder of a test's own, built file by file:
//   ImageFolder().Jpeg("train/cat/1.jpg").File("labels.txt", "cat\n");
class ImageFolder {
 public:
  // Adds a small JPEG; each has other pixels.
  ImageFolder& Jpeg(const std::string& name) {
    return File(name, TestJpeg({.width = 16, .height = 8, .seed = ++seed_}));
  }
  ImageFolder& Jpegs(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      Jpeg(name);
    }
    return *this;
  }
  // Adds COUNT JPEGs: FOLDER/000.jpg and so on.
  ImageFolder& JpegsIn(const std::string& folder, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      Jpeg(folder + "/" + std::string(3 - number.size(), '0') + number +
           ".jpg");
    }
    return *this;
  }
  ImageFolder& File(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path(folder_ / name);
    std::filesystem::create_directories(path.parent_path());
    WriteFileAtomically(path.string(), bytes);
    return *this;
  }
  ImageFolder& Folder(const std::string& name) {
    std::filesystem::create_directories(folder_ / name);
    return *this;
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return folder_ / name;
  }

 private:
  TemporaryFolder folder_;
  std::uint64_t seed_ = 0;
};

// "FOLDER/NAME:CLASS INDEX" of each image of a split.
inline std::vector<std::string> Images(const ImageSplit& split,
                                       const ImageFolder& raw) {
  std::vector<std::string> images;
  for (const ImageFile& image : split.images) {
    images.push_back(image.path.substr(raw.path().size() + 1) + ":" +
                     std::to_string(image.class_index));
  }
  return images;
}

}  // namespace infeed
