#include "records/files/record_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/shell_word.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::size_t kMostNames = 1'000'000;
constexpr std::array<std::string_view, 6> kFrameEndings = {
    ".tfrecord",    ".tfrecords",    ".tfrec",
    ".tfrecord.gz", ".tfrecords.gz", ".tfrec.gz"};
constexpr std::array<std::string_view, 4> kArchiveEndings = {".tar", ".tar.gz",
                                                             ".tgz", ".zip"};
// A list's parts that may be one path with commas.
constexpr std::size_t kMostJoined = 8;

// The length of the name's ending; 0 if it is none of these.
template <std::size_t kCount>
std::size_t EndingLength(std::string_view name,
                         const std::array<std::string_view, kCount>& endings) {
  const std::string lower = LowerCase(name);
  const auto* const found =
      std::ranges::find_if(endings, [&](std::string_view ending) {
        return lower.size() > ending.size() && lower.ends_with(ending);
      });
  return found == endings.end() ? 0 : found->size();
}

std::size_t RecordEndingLength(std::string_view name) {
  return std::max(EndingLength(name, kFrameEndings),
                  EndingLength(name, kArchiveEndings));
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Whether a name with commas is one path: it is there, or its folder is, whose
// name has the commas ("a,b/train-*").
bool IsOnePath(const std::string& name) {
  const std::string folder = std::filesystem::path(name).parent_path();
  return Exists(name) ||
         (folder.find(',') != std::string::npos && Exists(folder));
}

// The text inside the first pair of braces, with what stands around it.
struct Braces {
  std::string_view before;
  std::string_view inside;
  std::string_view after;
};

std::optional<Braces> FindBraces(std::string_view name) {
  const std::size_t open = name.find('{');
  const std::size_t close = name.find('}', open);
  if (open == name.npos || close == name.npos) {
    return std::nullopt;
  }
  return Braces{.before = name.substr(0, open),
                .inside = name.substr(open + 1, close - open - 1),
                .after = name.substr(close + 1)};
}

std::string Padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

[[noreturn]] void RefuseCount(std::string_view name) {
  throw UsageError(std::string(name) + ": braces for more than " +
                   std::to_string(kMostNames) + " names");
}

// The numbers of "008..010", as wide as the first one.
std::vector<std::string> Range(std::string_view inside, std::string_view name) {
  const std::size_t dots = inside.find("..");
  const std::string_view first = inside.substr(0, dots);
  const auto begin = ParsePlainNumber<std::int64_t>(first);
  const auto end = ParsePlainNumber<std::int64_t>(inside.substr(dots + 2));
  if (!begin || !end || *begin > *end) {
    throw UsageError(std::string(name) + ": {" + std::string(inside) +
                     "} is no range: give {000..099}");
  }
  if (*end - *begin >= static_cast<std::int64_t>(kMostNames)) {
    RefuseCount(name);
  }
  std::vector<std::string> numbers;
  for (std::int64_t number = *begin; number <= *end; ++number) {
    numbers.push_back(Padded(number, first.size()));
  }
  return numbers;
}

std::vector<std::string> Choices(std::string_view inside) {
  std::vector<std::string> choices;
  for (std::size_t comma = 0; comma != inside.npos;) {
    comma = inside.find(',');
    choices.emplace_back(inside.substr(0, comma));
    inside.remove_prefix(comma == inside.npos ? inside.size() : comma + 1);
  }
  return choices;
}

}  // namespace

bool IsRecordFileName(std::string_view base_name) {
  return IsShardName(base_name) || RecordEndingLength(base_name) > 0;
}

bool IsArchiveName(std::string_view base_name) {
  return EndingLength(base_name, kArchiveEndings) > 0;
}

std::optional<ShardNameParts> ParseNameInSet(std::string_view base_name) {
  base_name.remove_suffix(RecordEndingLength(base_name));
  return ParseShardName(base_name);
}

namespace {

bool IsParquetName(std::string_view base_name) {
  return LowerCase(Extension(base_name)) == "parquet" &&
         !base_name.starts_with('.');
}

std::string ParquetText(const std::string& folder) {
  return "; " + PathForMessages(folder) +
         " has Parquet files: `infeed convert " + ShellWord(folder) +
         " SHARDS` of the Python package makes shards of them";
}

// The last folder by name, as FindFolderOfRecords() looks for it.
std::string FindFolderOf(const std::string& folder,
                         bool (*is_wanted)(std::string_view base_name)) {
  namespace fs = std::filesystem;
  constexpr int kMostFolders = 3;
  std::string last;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry.depth() == kMostFolders) {
      entry.disable_recursion_pending();
    }
    if (is_wanted(entry->path().filename().string())) {
      last = std::max(last,
                      entry->path().parent_path().lexically_normal().string());
    }
  }
  return last;
}

}  // namespace

std::string FindFolderOfRecords(const std::string& folder) {
  return FindFolderOf(folder, IsRecordFileName);
}

std::string ParquetHint(const std::vector<std::string>& files) {
  const auto file = std::ranges::find_if(files, [](const std::string& path) {
    return IsParquetName(BaseName(path));
  });
  if (file == files.end()) {
    return "";
  }
  const std::string folder = std::filesystem::path(*file).parent_path();
  return ParquetText(folder.empty() ? "." : folder);
}

std::string ParquetHintOfFolder(const std::string& folder) {
  const std::string found = FindFolderOf(folder, IsParquetName);
  return found.empty() ? "" : ParquetText(found);
}

std::vector<std::string> SplitAtCommas(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += list[i] == '{' ? 1 : list[i] == '}' ? -1 : 0;
    if (list[i] == ',' && depth <= 0) {
      parts.emplace_back();
    } else {
      i += list.substr(i).starts_with("\\,") ? 1 : 0;
      parts.back().push_back(list[i]);
    }
  }
  std::erase(parts, "");
  return parts;
}

std::vector<std::string> DataPaths(std::string_view list) {
  const std::vector<std::string> parts = SplitAtCommas(list);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t taken = 1;
    std::string path = parts[i];
    if (!IsUrl(path) && !Exists(path)) {
      std::string joined = path;
      for (std::size_t more = 1; more < kMostJoined && i + more < parts.size();
           ++more) {
        joined += "," + parts[i + more];
        if (IsOnePath(joined)) {
          path = joined;
          taken = more + 1;
        }
      }
    }
    paths.push_back(OneUrl(std::move(path)));
    i += taken;
  }
  return paths;
}

std::vector<std::string> ExpandBraces(const std::string& name) {
  std::vector<std::string> names = {name};
  for (;;) {
    // All names have the same braces left.
    const std::optional<Braces> first = FindBraces(names.front());
    if (!first) {
      return names;
    }
    const std::vector<std::string> choices =
        first->inside.find("..") == std::string_view::npos
            ? Choices(first->inside)
            : Range(first->inside, name);
    if (names.size() * choices.size() > kMostNames) {
      RefuseCount(name);
    }
    std::vector<std::string> expanded;
    expanded.reserve(names.size() * choices.size());
    for (const std::string& one : names) {
      const Braces braces = *FindBraces(one);
      for (const std::string& choice : choices) {
        expanded.push_back(std::string(braces.before) + choice +
                           std::string(braces.after));
      }
    }
    names = std::move(expanded);
  }
}

}  // namespace infeed
