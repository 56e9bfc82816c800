#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Files and folders that a conversion ignores, counted by kind.
namespace infeed {

// The ignored files or folders of one kind.
struct LeftOut {
  enum class Kind {
    kUnreadable,  // images of a format that cannot be read
    kOtherFiles,  // with names that are not those of images
    kFolders,     // inside class folders
  };
  Kind kind = Kind::kOtherFiles;
  std::string format;  // of kUnreadable: "GIF"; else empty
  std::int64_t count = 0;
  std::string example;  // the first one's path
};

// Adds to the count of a kind; the first example of a kind is kept.
void AddLeftOut(std::vector<LeftOut>& list, const LeftOut& more);

}  // namespace infeed
