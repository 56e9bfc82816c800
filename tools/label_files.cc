#include "tools/label_files.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::string_view kBlanks = " \t\r";
constexpr std::array<const char*, 2> kTextFiles = {"class_names.txt",
                                                   "LOC_synset_mapping.txt"};

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The lines without blanks around them; empty ones at the end are left out.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(Trim(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

}  // namespace

std::vector<std::string> ReadLabels(const std::string& path) {
  std::vector<std::string> lines = Lines(ReadWholeFile(path, kMaxBytes));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      throw DataError({.path = path},
                      "line " + std::to_string(i + 1) + " is empty");
    }
  }
  return lines;
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
