#include "trainer/results/export_folder.h"

#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"
#include "trainer/results/model_dir.h"

namespace infeed {

ExportFolder::ExportFolder(const std::string& export_dir)
    : export_dir_(export_dir),
      stage_(PathIn(export_dir, fmt::format(".export-{}", ::getpid()))) {
  MakeFolder(export_dir_, "create the folder");
  std::error_code error;
  // Left by a killed run that had the same process number.
  std::filesystem::remove_all(stage_, error);
  MakeFolder(stage_, "create the folder", 1);
}

ExportFolder::~ExportFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(stage_, ignored);
}

std::string ExportFolder::PathFor(const std::string& name) const {
  return PathIn(stage_, name);
}

std::string ExportFolder::Commit(std::int64_t unix_seconds) {
  SyncDirectory(stage_);
  for (std::int64_t second = unix_seconds;; ++second) {
    std::string folder = PathIn(export_dir_, std::to_string(second));
    if (::rename(stage_.c_str(), folder.c_str()) == 0) {
      SyncDirectory(export_dir_);
      return folder;
    }
    // If another export has this name, try the next one.
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
      throw IoError(folder, "rename the export to it", errno);
    }
  }
}

ExportFacts ReadExportFacts(const std::string& folder) {
  constexpr std::int64_t kMaxBytes = std::int64_t{64} << 20;
  const std::string path = PathIn(folder, kExportFactsFile);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return {};
  }
  ExportFacts facts;
  try {
    const auto json = ParseJson<nlohmann::json>(ReadWholeFile(path, kMaxBytes));
    for (const auto& name : json.value("classes", nlohmann::json::array())) {
      facts.classes.push_back(
          NameText(name.is_string() ? name.get<std::string>() : ""));
    }
    facts.model_variant = json.value("trained", nlohmann::json::object())
                              .value("model_variant", "");
  } catch (const nlohmann::json::exception&) {  // a file of another program
  }
  return facts;
}

}  // namespace infeed
