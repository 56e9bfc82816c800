#include "records/files/shards.h"

#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/split_names.h"
#include "records/http/url.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMinDigits = 5;
constexpr std::string_view kWildcards = "*?[";

[[noreturn]] void FailWithoutShards(const std::string& what,
                                    const std::string& hint = "") {
  throw IoError(what + " (shards are named *-NNNNN-of-NNNNN)" + hint);
}

bool TakeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) {
    return false;
  }
  text.remove_suffix(suffix.size());
  return true;
}

// Removes five or more digits from the end of text and returns them; "" if
// there are fewer.
std::string_view TakeNumber(std::string_view& text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::size_t start = last == std::string_view::npos ? 0 : last + 1;
  const std::string_view digits = text.substr(start);
  text = text.substr(0, start);
  return digits.size() >= kMinDigits ? digits : std::string_view();
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void RequireFolder(const std::string& data_dir) {
  if (!IsUrl(data_dir) && !IsFolder(data_dir)) {
    struct stat status {};
    const int error = ::stat(data_dir.c_str(), &status) != 0 ? errno : ENOTDIR;
    throw IoError(data_dir, "read the folder", error);
  }
}

// Whether a base name is of the files that are looked for.
using IsWanted = bool (*)(std::string_view base_name);

// The length of a path's leading folders that are there.
std::size_t LengthOfFolders(const std::string& path) {
  std::size_t length = 0;
  for (std::size_t slash = path.find('/');
       slash != std::string::npos && IsFolder(path.substr(0, slash + 1));
       slash = path.find('/', slash + 1)) {
    length = slash + 1;
  }
  return length;
}

// A pattern whose leading folders that are there are taken as they are named:
// "[v1]/train-*" finds what is in the folder "[v1]".
std::string EscapedFolders(const std::string& pattern) {
  const std::size_t length = LengthOfFolders(pattern);
  std::string escaped;
  for (const char c : std::string_view(pattern).substr(0, length)) {
    if (kWildcards.find(c) != kWildcards.npos || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped + pattern.substr(length);
}

// The shards directly in a folder, or the files of another kind; none if the
// folder does not exist.
std::vector<std::string> ShardsIn(const fs::path& folder,
                                  IsWanted is_wanted = IsShardName) {
  std::vector<std::string> shards;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_wanted(entry->path().filename().string()) &&
        !IsFolder(entry->path())) {
      shards.push_back(entry->path().lexically_normal().string());
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw IoError(folder.string(), "read the folder", error.value());
  }
  return shards;
}

// The paths that match a pattern.
std::vector<std::string> Glob(const std::string& pattern) {
  glob_t matches{};
  const int result =
      ::glob(EscapedFolders(pattern).c_str(), GLOB_ERR, nullptr, &matches);
  const int error = errno;
  std::vector<std::string> paths(matches.gl_pathv,
                                 matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  if (result != 0 && result != GLOB_NOMATCH) {
    throw IoError(pattern, "read a folder of the pattern", error);
  }
  return paths;
}

std::vector<std::string> ShardsOfPattern(const std::string& pattern) {
  std::vector<std::string> shards;
  const std::vector<std::string> matches = Glob(pattern);
  for (const fs::path path : matches) {
    if (IsRecordFileName(path.filename().string()) && !IsFolder(path)) {
      shards.push_back(path.lexically_normal().string());
    }
  }
  if (shards.empty()) {
    FailWithoutShards(pattern + ": no shard matches this pattern",
                      ParquetHint(matches));
  }
  return shards;
}

bool IsPattern(const std::string& text) {
  return text.find_first_of(kWildcards) != std::string::npos;
}

std::string AsFolder(const std::string& url) {
  return url.ends_with('/') ? url : url + "/";
}

// The shards directly in a "folder" of a bucket, s3://BUCKET/FOLDER. Throws
// UsageError for http(s), where files cannot be listed. Adds to sizes.
std::vector<std::string> ShardObjectsIn(const std::string& folder_url,
                                        IsWanted is_wanted,
                                        ObjectSizes& sizes) {
  std::vector<std::string> shards;
  for (ObjectEntry& object :
       SharedObjectStore()->List(AsFolder(folder_url)).objects) {
    if (is_wanted(BaseName(object.url))) {
      sizes[object.url] = object.size;
      shards.push_back(std::move(object.url));
    }
  }
  return shards;
}

std::vector<std::string> FilesIn(const std::string& folder, IsWanted is_wanted,
                                 ObjectSizes& sizes) {
  return IsUrl(folder) ? ShardObjectsIn(folder, is_wanted, sizes)
                       : ShardsIn(folder, is_wanted);
}

// The names of the folders in a folder. None if it does not exist.
std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> names;
  if (IsUrl(folder)) {
    for (const std::string& url :
         SharedObjectStore()->List(AsFolder(folder)).folders) {
      names.emplace_back(
          BaseName(std::string_view(url).substr(0, url.size() - 1)));
    }
    return names;
  }
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (IsFolder(entry->path())) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// The folders in a folder that are named as a split is; "": as any split.
std::vector<std::string> SplitFolders(const std::string& folder,
                                      std::string_view split) {
  std::vector<std::string> folders;
  for (const std::string& name : FoldersIn(folder)) {
    const std::string_view named = SplitNamed(name);
    if (!named.empty() && (split.empty() || named == split)) {
      folders.push_back(AsFolder(folder) + name);
    }
  }
  return folders;
}

// The files in a folder and in its folders of splits.
std::vector<std::string> FilesOfFolder(const std::string& folder,
                                       IsWanted is_wanted, ObjectSizes& sizes) {
  std::vector<std::string> files = FilesIn(folder, is_wanted, sizes);
  for (const std::string& split : SplitFolders(folder, "")) {
    std::ranges::move(FilesIn(split, is_wanted, sizes),
                      std::back_inserter(files));
  }
  return files;
}

// Its shards, or, if it has none, its other files of records.
std::vector<std::string> ShardsOfFolder(const std::string& folder,
                                        ObjectSizes& sizes) {
  std::vector<std::string> shards = FilesOfFolder(folder, IsShardName, sizes);
  return shards.empty() ? FilesOfFolder(folder, IsRecordFileName, sizes)
                        : shards;
}

std::vector<std::string> ShardObjectsOfPattern(const std::string& pattern,
                                               ObjectSizes& sizes) {
  const std::size_t wildcard = ParseUrl(pattern).path.find_first_of(kWildcards);
  const std::size_t start =
      pattern.size() - ParseUrl(pattern).path.size() + wildcard;
  if (pattern.find('/', start) != std::string::npos) {
    throw UsageError(pattern +
                     ": only the last part of a URL may have wildcards");
  }
  std::vector<std::string> shards;
  const std::string name(BaseName(pattern));
  for (ObjectEntry& object :
       SharedObjectStore()->List(pattern.substr(0, start)).objects) {
    const std::string base(BaseName(object.url));
    if (IsRecordFileName(base) &&
        ::fnmatch(name.c_str(), base.c_str(), 0) == 0) {
      sizes[object.url] = object.size;
      shards.push_back(std::move(object.url));
    }
  }
  if (shards.empty()) {
    FailWithoutShards(pattern + ": no shard matches this pattern");
  }
  return shards;
}

// Resolves a URL to shards: an object, a folder, or, with wildcards behind the
// last "/", the matching shards. For http(s) only a single object.
std::vector<std::string> ShardsOfUrl(const std::string& url,
                                     ObjectSizes& sizes) {
  const Url parsed = ParseUrl(url);
  const bool in_bucket = IsBucketScheme(parsed.scheme);
  if (in_bucket && IsPattern(parsed.path)) {
    return ShardObjectsOfPattern(url, sizes);
  }
  const bool may_be_object = !parsed.path.empty() && !url.ends_with('/');
  if (may_be_object && SharedObjectStore()->Find(url)) {
    return {url};
  }
  std::vector<std::string> shards;
  if (in_bucket) {
    shards = ShardsOfFolder(url, sizes);
  }
  if (shards.empty()) {
    const std::string what =
        UrlForMessages(url) + ": cannot find the data: there is no such object";
    if (in_bucket) {
      FailWithoutShards(what + ", nor shards in a folder of that name");
    }
    throw IoError(what);
  }
  return shards;
}

// One part of a specification, resolved: its shards and the set that they
// should form; nullopt if the part names a single shard.
struct NamedShards {
  std::vector<std::string> shards;
  std::optional<ShardSet> set;
};

NamedShards ShardsOfUrlPart(const std::string& url) {
  ObjectSizes sizes;
  std::vector<std::string> shards = ShardsOfUrl(url, sizes);
  if (shards == std::vector{url}) {
    return {std::move(shards), std::nullopt};
  }
  ShardSet set = IsPattern(url) ? SetOfPattern(url, shards) : SetOfFolder(url);
  set.sizes = std::move(sizes);
  return {std::move(shards), std::move(set)};
}

NamedShards ShardsOfPart(const std::string& part) {
  if (IsUrl(part)) {
    return ShardsOfUrlPart(part);
  }
  struct stat status {};
  if (::stat(part.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      ObjectSizes none;
      std::vector<std::string> shards = ShardsOfFolder(part, none);
      if (shards.empty()) {
        FailWithoutShards(part +
                              ": has no shards, and none in folders train, "
                              "validation, test",
                          ParquetHintOfFolder(part));
      }
      return {std::move(shards), SetOfFolder(part)};
    }
    return {{fs::path(part).lexically_normal().string()}, std::nullopt};
  }
  const int error = errno;
  if (error == ENOENT && IsPattern(part)) {
    std::vector<std::string> shards = ShardsOfPattern(part);
    ShardSet set = SetOfPattern(EscapedFolders(part), shards);
    return {std::move(shards), std::move(set)};
  }
  throw IoError(part, "find the data", error);
}

// The parts of a list, with braces expanded where no file and no folder has
// that name.
std::vector<std::string> Expanded(const std::vector<std::string>& list) {
  std::vector<std::string> parts;
  for (const std::string& part : list) {
    std::error_code ignored;
    if (part.starts_with("pipe:")) {
      throw UsageError(part +
                       ": a command's output has no random access; name the "
                       "files themselves (s3://, gs:// and https:// are read)");
    }
    if (fs::exists(part, ignored)) {
      parts.push_back(part);
    } else {
      const std::size_t length = LengthOfFolders(part);
      for (const std::string& rest : ExpandBraces(part.substr(length))) {
        parts.push_back(part.substr(0, length) + rest);
      }
    }
  }
  return parts;
}

std::vector<std::string> SortedOnce(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace

std::string ShardName(std::string_view prefix, std::int64_t number,
                      std::int64_t count) {
  std::array<char, 64> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "-%05lld-of-%05lld",
                static_cast<long long>(number), static_cast<long long>(count));
  return std::string(prefix) + suffix.data();
}

std::optional<ShardNameParts> ParseShardName(std::string_view base_name) {
  ShardNameParts parts;
  (void)TakeSuffix(base_name, ".gz");
  parts.count = TakeNumber(base_name);
  if (parts.count.empty() || !TakeSuffix(base_name, "-of-")) {
    return std::nullopt;
  }
  parts.number = TakeNumber(base_name);
  if (parts.number.empty() || !TakeSuffix(base_name, "-") ||
      base_name.empty()) {
    return std::nullopt;
  }
  parts.prefix = base_name;
  return parts;
}

bool IsShardName(std::string_view base_name) {
  return ParseShardName(base_name).has_value();
}

std::string_view ShardPrefix(std::string_view base_name) {
  return ParseShardName(base_name).value_or(ShardNameParts{}).prefix;
}

std::vector<std::string> ListShards(std::string_view spec,
                                    const OnShardSetFaults& on_faults) {
  const std::vector<std::string> paths = DataPaths(spec);
  if (paths.empty()) {
    throw IoError("no data: give shards, folders or patterns, not '" +
                  std::string(spec) + "'");
  }
  return ListShardsOf(paths, on_faults);
}

std::vector<std::string> ListShardsOf(const std::vector<std::string>& paths,
                                      const OnShardSetFaults& on_faults) {
  if (paths.empty()) {
    throw IoError("no data: give shards, folders or patterns");
  }
  std::vector<std::string> shards;
  std::set<std::string> listed;
  ShardSetFaults faults;
  for (const std::string& part : Expanded(paths)) {
    NamedShards named = ShardsOfPart(part);
    if (named.set) {
      faults.Add(FindFaults(named.shards, *named.set));
    }
    for (std::string& shard : SortedOnce(std::move(named.shards))) {
      if (listed.insert(shard).second) {
        shards.push_back(std::move(shard));
      }
    }
  }
  if (faults.any()) {
    on_faults(faults);
  }
  return shards;
}

std::vector<std::string> FindSplitFiles(const std::string& data_dir,
                                        std::string_view split,
                                        ObjectSizes* sizes) {
  RequireFolder(data_dir);
  split = RequireSplitName(split);
  ObjectSizes found;
  std::vector<std::string> files = FilesIn(data_dir, IsRecordFileName, found);
  std::erase_if(files, [&](const std::string& file) {
    return !MayBeOfSplit(FileNameOf(file), split);
  });
  for (const std::string& folder : SplitFolders(data_dir, split)) {
    std::ranges::move(FilesIn(folder, IsRecordFileName, found),
                      std::back_inserter(files));
  }
  if (sizes != nullptr) {
    *sizes = std::move(found);
  }
  return SortedOnce(std::move(files));
}

std::vector<std::string> FindSplit(const std::string& data_dir,
                                   std::string_view split,
                                   const OnShardSetFaults& on_faults) {
  RequireFolder(data_dir);
  split = RequireSplitName(split);
  std::vector<std::string> folders = SplitFolders(data_dir, split);
  folders.push_back(data_dir);
  ShardSet set = SetOfSplit(data_dir, std::string(split));
  std::vector<std::string> shards;
  for (const std::string& folder : folders) {
    for (std::string& shard : FilesIn(folder, IsShardName, set.sizes)) {
      if (SplitNamed(ShardPrefix(FileNameOf(shard))) == split) {
        shards.push_back(std::move(shard));
      }
    }
  }
  RefuseTwoNames(data_dir, split, shards);
  const ShardSetFaults faults = FindFaults(shards, set);
  if (faults.any()) {
    on_faults(faults);
  }
  return SortedOnce(std::move(shards));
}

void RefuseTwoNames(const std::string& data_dir, std::string_view split,
                    const std::vector<std::string>& files) {
  const std::string own = FolderOfShard(ShardPathIn(data_dir, "x"));
  std::set<std::string> folders;
  std::set<std::string> starts;
  for (const std::string& file : files) {
    const std::string folder = FolderOfShard(file);
    if (folder != own) {
      folders.insert(FileNameOf(folder) + "/");
    }
    const std::string name = FileNameOf(file);
    const std::string_view prefix = ShardPrefix(name);
    const std::string start(
        prefix.empty() ? std::string_view(name).substr(0, name.find('.'))
                       : prefix);
    if (SplitNamed(start) == split) {
      starts.insert(start);
    }
  }
  for (const auto& names : {folders, starts}) {
    if (names.size() > 1) {
      RefuseTwoNamesOf(split, PathForMessages(data_dir), *names.begin(),
                       *std::next(names.begin()));
    }
  }
}

}  // namespace infeed
