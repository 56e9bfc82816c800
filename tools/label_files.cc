#include "tools/label_files.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/read_whole.h"
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
    const std::optional<std::string> text =
        ReadWholeIfThere(folder + "/" + name, kMaxBytes);
    if (!text) {
      continue;
    }
    for (const std::string& line : Lines(*text)) {
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
