#include "tools/images/label_files.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "tools/cli/text_lines.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxLabelsBytes = std::int64_t{1} << 30;
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
        ReadWholeIfThere(folder + "/" + name, kMaxLabelsBytes);
    if (!text) {
      continue;
    }
    std::size_t number = 0;
    for (const std::string& line : Lines(*text)) {
      const std::size_t blank = line.find_first_of(kBlanks);
      const std::string_view class_text =
          blank == std::string::npos
              ? ""
              : Trim(std::string_view(line).substr(blank));
      CheckClassLine(folder + "/" + name, ++number, class_text);
      if (blank != std::string::npos) {
        texts.emplace(line.substr(0, blank), class_text);
      }
    }
    break;
  }
  return texts;
}

}  // namespace infeed
