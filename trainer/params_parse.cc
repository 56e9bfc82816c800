#include "trainer/params_parse.h"

#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/atomic_file.h"
#include "base/error.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;

// Takes the parser's events for a flat map and refuses all others as they
// come, so that no depth and no alias ever takes memory.
class FlatMap final : public YAML::EventHandler {
 public:
  explicit FlatMap(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] std::vector<ParamAssignment> Take() {
    return std::move(assignments_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      Refuse(mark, "there is more than one document");
    }
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    Refuse(mark, "anchors are not read");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases are not read");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&,
                       YAML::anchor_t, YAML::EmitterStyle::value) override {
    Refuse(mark, in_map_ ? "a parameter has one value, not a list"
                         : "not a map of parameters");
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (in_map_) {
      Refuse(mark, "a parameter has one value, not a map");
    }
    in_map_ = true;
  }
  void OnMapEnd() override { in_map_ = false; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    // An empty document is an empty map.
    if (in_map_) {
      Add(mark, "null");
    }
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (!in_map_) {
      Refuse(mark, "not a map of parameters");
    }
    Add(mark, value);
  }

 private:
  [[noreturn]] void Refuse(const YAML::Mark& mark, std::string_view why) const {
    throw UsageError(fmt::format("{}{}", why, Place(mark)));
  }

  [[nodiscard]] std::string Place(const YAML::Mark& mark) const {
    return origin_.empty()
               ? ""
               : fmt::format(" ({}, line {})", origin_, mark.line + 1);
  }

  // Names and values come in turns.
  void Add(const YAML::Mark& mark, const std::string& text) {
    if (name_) {
      assignments_.push_back(
          {.name = std::move(*name_), .value = text, .place = Place(mark)});
      name_.reset();
    } else {
      name_ = text;
    }
  }

  std::string_view origin_;
  int documents_ = 0;
  bool in_map_ = false;
  std::optional<std::string> name_;
  std::vector<ParamAssignment> assignments_;
};

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

  // In quotes of either kind, or up to a comma.
  std::optional<std::string> TakeValue() {
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      const std::size_t end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      std::string quoted = TakeFront(end + 1);
      return quoted.substr(1, quoted.size() - 2);
    }
    std::string value = TakeFront(std::min(rest_.find(','), rest_.size()));
    value.erase(value.find_last_not_of(' ') + 1);
    const bool plain =
        !value.empty() && value.find_first_of("[]{}") == std::string::npos;
    return plain ? std::optional(std::move(value)) : std::nullopt;
  }

  std::string_view rest_;
};

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::vector<ParamAssignment> ParseParamYaml(std::string_view text,
                                            std::string_view origin) {
  if (text.size() > kMaxBytes) {
    throw UsageError(fmt::format("{}: parameters of {} bytes, more than {}",
                                 origin, text.size(), kMaxBytes));
  }
  FlatMap map(origin);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(map)) {
    }
  } catch (const YAML::Exception& error) {
    throw UsageError(fmt::format("not YAML: {} ({}, line {})", error.msg,
                                 origin.empty() ? "parameters" : origin,
                                 error.mark.line + 1));
  }
  return map.Take();
}

std::vector<ParamAssignment> ReadParamFile(const std::string& path) {
  return ParseParamYaml(ReadWholeFile(path, kMaxBytes), path);
}

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
          text));
    }
    return ReadParamFile(path);
  }
  return ParseParamYaml(text, "");
}

}  // namespace infeed
