#include "trainer/model_dir/move_folder.h"

#include <stdio.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace infeed {

void RenameFolder(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw IoError(to, "rename", errno);
  }
}

void RemoveFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) {
    throw IoError(folder, "remove", error.value());
  }
}

void RemoveFolderWhole(const std::string& folder, const std::string& aside) {
  RenameFolder(folder, aside);
  RemoveFolder(aside);
}

}  // namespace infeed
