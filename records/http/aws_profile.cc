#include "records/http/aws_profile.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

[[noreturn]] void Refuse(const std::string& path, int line) {
  throw UsageError(path + ": line " + std::to_string(line) +
                   " is neither '[section]' nor 'name = value'");
}

}  // namespace

std::optional<std::map<std::string, std::string>> ReadAwsProfile(
    const std::string& path, const std::string& section) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return std::nullopt;
  }
  const std::string file = ReadWholeFile(path, kMaxFileBytes);
  std::string_view rest(file);
  std::optional<std::map<std::string, std::string>> profile;
  bool inside = false;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole.size() + 1, rest.size()));
    const std::string_view line = Trimmed(whole);
    // An indented line belongs to a nested value, which we do not use.
    if (line.empty() || line[0] == '#' || line[0] == ';' || whole[0] == ' ' ||
        whole[0] == '\t') {
      continue;
    }
    if (line.front() == '[') {
      if (line.back() != ']') {
        Refuse(path, number);
      }
      inside = Trimmed(line.substr(1, line.size() - 2)) == section;
      if (inside && !profile) {
        profile.emplace();
      }
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      Refuse(path, number);
    }
    if (inside) {
      (*profile)[std::string(Trimmed(line.substr(0, equals)))] =
          Trimmed(line.substr(equals + 1));
    }
  }
  return profile;
}

}  // namespace infeed
