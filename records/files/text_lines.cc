#include "records/files/text_lines.h"

#include <cstdint>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;

}  // namespace

std::string_view Trim(std::string_view text) { return Trimmed(text, kBlanks); }

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  text = WithoutMark(text);
  while (!text.empty()) {
    lines.emplace_back(Trim(TakeLine(text)));
  }
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

std::vector<std::string> CheckedLines(const std::string& path,
                                      std::string_view text) {
  std::vector<std::string> lines = Lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      throw DataError({.path = path},
                      "line " + std::to_string(i + 1) + " is empty");
    }
  }
  return lines;
}

std::vector<std::string> ReadLines(const std::string& path, int own_names) {
  return CheckedLines(path, ReadWhole(path, kMaxFileBytes, own_names));
}

}  // namespace infeed
