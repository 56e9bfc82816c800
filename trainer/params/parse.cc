#include "trainer/params/parse.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "records/http/secrets_guard.h"
#include "trainer/params/yaml.h"

namespace infeed {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsNameChar(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// Reads "a=1, b='x,y'" piece by piece. Each Take function takes its piece off
// the front, or returns nullopt when something else stands there.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : rest_(text) {}

  // nullopt: not a list.
  [[nodiscard]] std::optional<std::vector<ParamAssignment>> Parse() {
    std::vector<ParamAssignment> list;
    SkipSpaces();
    do {
      std::optional<std::string> name = TakeName();
      if (!name || !Take('=')) {
        return std::nullopt;
      }
      std::optional<std::string> value = TakeValue();
      SkipSpaces();
      if (!value || (!rest_.empty() && !Take(','))) {
        return std::nullopt;
      }
      list.push_back(
          {.name = std::move(*name), .value = std::move(*value), .place = ""});
    } while (!rest_.empty());
    return list;
  }

 private:
  void SkipSpaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
  }

  bool Take(char wanted) {
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(1);
    SkipSpaces();
    return true;
  }

  std::string TakeFront(std::size_t count) {
    std::string front(rest_.substr(0, count));
    rest_.remove_prefix(count);
    return front;
  }

  std::optional<std::string> TakeName() {
    std::size_t length = 0;
    while (length < rest_.size() && IsNameChar(rest_[length])) {
      ++length;
    }
    if (length == 0 || !IsLetter(rest_[0])) {
      return std::nullopt;
    }
    std::string name = TakeFront(length);
    SkipSpaces();
    return name;
  }

  // In quotes of either kind, "[a, b]" as "a,b", or up to a comma.
  std::optional<std::string> TakeValue() {
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      return TakeEnclosed(rest_[0]);
    }
    if (rest_.starts_with('[')) {
      std::optional<std::string> list = TakeEnclosed(']');
      if (list) {
        std::erase(*list, ' ');
      }
      return list && list->find('[') == std::string::npos ? list : std::nullopt;
    }
    std::string value = TakeFront(std::min(rest_.find(','), rest_.size()));
    value.erase(value.find_last_not_of(' ') + 1);
    const bool plain =
        !value.empty() && value.find_first_of("[]{}") == std::string::npos;
    return plain ? std::optional(std::move(value)) : std::nullopt;
  }

  // What stands between the front character and `last`.
  std::optional<std::string> TakeEnclosed(char last) {
    const std::size_t end = rest_.find(last, 1);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string enclosed = TakeFront(end + 1);
    return enclosed.substr(1, enclosed.size() - 2);
  }

  std::string_view rest_;
};

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::vector<ParamAssignment> ParseOverride(std::string_view text) {
  if (text.find_first_not_of(" \n") == std::string_view::npos) {
    return {};
  }
  if (std::optional list = ListParser(text).Parse()) {
    return *std::move(list);
  }
  if (text.find_first_of(":{") == std::string_view::npos ||
      IsFile(std::string(text))) {
    const std::string path(text);
    if (!IsFile(path)) {
      throw UsageError(fmt::format(
          "'{}': not a list like a=1,b=2, not a YAML map, and no such file",
          WithoutUrlSecrets(text)));
    }
    return ReadParamFile(path);
  }
  return ParseParamYaml(text, "");
}

}  // namespace infeed
