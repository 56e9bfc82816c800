#include "trainer/params/parse.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxDepth = 4;  // of maps

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsNameChar(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// Reads "a=1, b='x,y'" piece by piece. Each Take function removes its piece
// from the front, or returns nullopt when the text starts with something else.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : rest_(text) {}

  // nullopt: not a list.
  [[nodiscard]] std::optional<std::vector<OptionAssignment>> Parse() {
    std::vector<OptionAssignment> list;
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

  // The text between the front character and `last`.
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

// Accepts the parser's events of a map of values and rejects all others at
// once, so that neither deep nesting nor aliases can use up memory.
class ParamMap final : public YAML::EventHandler {
 public:
  explicit ParamMap(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] std::vector<OptionAssignment> Take() {
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
    if (depth_ == 0) {
      RefuseOther(mark);
    }
    if (list_ || !name_) {
      Refuse(mark, "a list stands where a name or a value should");
    }
    list_.emplace();
    list_mark_ = mark;
  }
  void OnSequenceEnd() override {
    const std::string text = fmt::format("{}", fmt::join(*list_, ","));
    list_.reset();
    Add(list_mark_, text);
  }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (depth_ > 0 && (list_ || !name_)) {
      Refuse(mark, "a map stands where a name or a value should");
    }
    if (depth_ == kMaxDepth) {
      Refuse(mark, fmt::format("maps lie more than {} deep", kMaxDepth));
    }
    if (depth_++ > 0) {
      prefixes_.push_back(Prefix() + *std::exchange(name_, std::nullopt) + ".");
    }
  }
  void OnMapEnd() override {
    if (--depth_ > 0) {
      prefixes_.pop_back();
    }
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    // An empty document is an empty map.
    if (depth_ > 0) {
      Add(mark, "null");
    }
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (depth_ == 0) {
      RefuseOther(mark);
    }
    Add(mark, value);
  }

 private:
  [[noreturn]] void Refuse(const YAML::Mark& mark, std::string_view why) const {
    throw UsageError(fmt::format("{}{}", why, Place(mark)));
  }

  // A file, or a command line's text that is no list of a=1,b=2 either.
  [[noreturn]] void RefuseOther(const YAML::Mark& mark) const {
    Refuse(mark,
           origin_.empty()
               ? "params_override: give a list like image_size=64,seed=1, "
                 "a YAML map like {image_size: 64}, or a file"
               : "not a map of parameters, like image_size: 64");
  }

  [[nodiscard]] std::string Place(const YAML::Mark& mark) const {
    return origin_.empty()
               ? ""
               : fmt::format(" ({}, line {})", origin_, mark.line + 1);
  }

  [[nodiscard]] std::string Prefix() const {
    return prefixes_.empty() ? "" : prefixes_.back();
  }

  // Called with names and values in turn.
  void Add(const YAML::Mark& mark, const std::string& text) {
    if (list_) {
      list_->push_back(text);
    } else if (name_) {
      std::string name = Prefix() + *std::exchange(name_, std::nullopt);
      if (!names_.insert(name).second) {
        Refuse(mark, fmt::format("{} is there twice: leave one out", name));
      }
      assignments_.push_back(
          {.name = std::move(name), .value = text, .place = Place(mark)});
    } else {
      name_ = text;
    }
  }

  std::string_view origin_;
  int documents_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::string> prefixes_;  // of the nested maps
  std::optional<std::string> name_;
  std::optional<std::vector<std::string>> list_;  // the list that is being read
  YAML::Mark list_mark_;
  std::set<std::string> names_;  // of the assignments
  std::vector<OptionAssignment> assignments_;
};

// Starts no threads: the command line is read before the program starts any.
std::string ReadObject(const std::string& url) {
  const std::optional<std::string> text =
      ReadSmallObject(ObjectStore(cloud_settings()), url, kMaxBytes);
  if (!text) {
    throw IoError(UrlForMessages(url) +
                  ": cannot read the parameters: there is no such object "
                  "(check the URL)");
  }
  return *text;
}

}  // namespace

std::vector<OptionAssignment> ParseOverride(std::string_view text) {
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

std::vector<OptionAssignment> ParseParamYaml(std::string_view text,
                                             std::string_view origin) {
  if (text.size() > kMaxBytes) {
    throw UsageError(fmt::format("{}: parameters of {} bytes, more than {}",
                                 origin, text.size(), kMaxBytes));
  }
  ParamMap map(origin);
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

bool HasParamFile(const std::string& path) {
  return IsUrl(path) ? ObjectStore(cloud_settings()).Find(path).has_value()
                     : std::filesystem::exists(path);
}

std::vector<OptionAssignment> ReadParamFile(const std::string& path,
                                            int own_names) {
  return ParseParamYaml(
      IsUrl(path) ? ReadObject(path) : ReadWhole(path, kMaxBytes, own_names),
      PathForMessages(path));
}

}  // namespace infeed
