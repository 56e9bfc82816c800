#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a conversion takes no images from, counted by kind.
namespace infeed {

// What was left out of a kind.
struct LeftOut {
  enum class Kind {
    kUnreadable,  // images of a format that cannot be read
    kOtherFiles,  // whose names are not those of images
    kFolders,     // inside of class folders
  };
  Kind kind = Kind::kOtherFiles;
  std::string format;  // of kUnreadable: "GIF"; else empty
  std::int64_t count = 0;
  std::string example;  // the first one's path
};

// Counts more of a kind; their example is kept where they are the first.
void AddLeftOut(std::vector<LeftOut>& list, const LeftOut& more);

}  // namespace infeed
