#include "tools/label_files.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "tools/text_lines.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::array<const char*, 2> kTextFiles = {"class_names.txt",
                                                   "LOC_synset_mapping.txt"};

}  // namespace

std::vector<std::string> ReadLabels(const std::string& path) {
  return ReadLines(path);
}

std::map<std::string, std::string> ReadClassTexts(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const char* name : kTextFiles) {
    const std::string path = folder + "/" + name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      continue;
    }
    for (const std::string& line : Lines(ReadWholeFile(path, kMaxBytes))) {
      const std::size_t blank = line.find_first_of(kBlanks);
      if (blank != std::string::npos) {
        texts.emplace(line.substr(0, blank), Trim(line.substr(blank)));
      }
    }
    break;
  }
  return texts;
}

}  // namespace infeed
