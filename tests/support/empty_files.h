#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace infeed {

// Makes files of no bytes, and the folders they are in.
inline void MakeEmptyFiles(const TemporaryFolder& folder,
                           const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::filesystem::path path(folder / name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path).close();
  }
}

}  // namespace infeed
