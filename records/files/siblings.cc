#include "records/files/siblings.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/parent_folder.h"
#include "records/bytes/base_name.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

bool IsSplitFolder(const std::string& folder) {
  return !SplitNamed(BaseName(folder)).empty();
}

// The data set's folder.
std::string RootOf(const std::string& shard) {
  std::string folder = ParentFolder(shard);
  return IsSplitFolder(folder) ? ParentFolder(folder) : folder;
}

bool IsWordLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool IsNameDigit(char c) { return c >= '0' && c <= '9'; }

// The pattern that a data set's file names share: "" in a split's folder, else
// the name with a word for a split as '*' and digits as '#'; behind the
// word a number is one '#', as splits have different numbers of files.
std::string CommonName(const std::string& file) {
  if (IsSplitFolder(ParentFolder(file))) {
    return "";
  }
  const std::string name = FileNameOf(file);
  std::string common;
  bool has_split = false;
  for (auto at = name.begin(); at != name.end();) {
    auto end = std::next(at);
    if (IsWordLetter(*at)) {
      end = std::find_if_not(at, name.end(), IsWordLetter);
      const bool is_split = !SplitInName({at, end}).empty();
      common += is_split ? "*" : std::string(at, end);
      has_split |= is_split;
    } else if (IsNameDigit(*at)) {
      end = has_split ? std::find_if_not(at, name.end(), IsNameDigit) : end;
      common += '#';
    } else {
      common += *at;
    }
    at = end;
  }
  return common;
}

std::vector<std::string> RecordFilesBelow(const std::string& root) {
  std::vector<std::string> files;
  try {
    for (const std::string_view split : kSplits) {
      for (std::string& file : FindSplitFiles(root, split)) {
        files.push_back(std::move(file));
      }
    }
  } catch (const IoError&) {
    if (!IsUrl(root)) {
      throw;
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> FindSiblings(const std::vector<std::string>& shards) {
  std::set<std::string> roots;
  std::set<std::string> names;
  for (const std::string& shard : shards) {
    roots.insert(RootOf(shard));
    names.insert(CommonName(shard));
  }
  std::set<std::string> siblings;
  for (const std::string& root : roots) {
    for (const std::string& file : RecordFilesBelow(root)) {
      if (names.contains(CommonName(file))) {
        siblings.insert(file);
      }
    }
  }
  for (const std::string& shard : shards) {
    siblings.erase(shard);
  }
  return {siblings.begin(), siblings.end()};
}

}  // namespace infeed
