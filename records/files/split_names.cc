#include "records/files/split_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/parent_folder.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/http/url.h"

namespace infeed {
namespace {

// The words for a split, with the split.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords =
    {{{"train", "train"},
      {"training", "train"},
      {"val", "validation"},
      {"valid", "validation"},
      {"validation", "validation"},
      {"dev", "validation"},
      {"eval", "validation"},
      {"test", "test"},
      {"testing", "test"}}};

bool IsLetter(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0;
}

// SPLIT of the names of TensorFlow Datasets, NAME-SPLIT.tfrecord-00000-of-00001
// without "-" in NAME; "" if the name has another form.
std::string_view SplitWordOfTfds(std::string_view base_name) {
  const std::size_t begin = base_name.find('-') + 1;
  const std::size_t end = base_name.find(".tfrecord-");
  if (begin == 0 || end == std::string_view::npos || begin > end) {
    return "";
  }
  const std::string_view word = base_name.substr(begin, end - begin);
  return SplitNamed(word).empty() ? "" : word;
}

// The parts of a name that are letters, and those between them.
std::vector<std::string_view> WordsIn(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && IsLetter(name[end]) == IsLetter(name[at])) {
      ++end;
    }
    words.push_back(name.substr(at, end - at));
    at = end;
  }
  return words;
}

// The words of a name that stand for splits.
std::vector<std::string_view> SplitWordsIn(std::string_view base_name) {
  if (const auto word = SplitWordOfTfds(base_name); !word.empty()) {
    return {word};
  }
  std::vector<std::string_view> words = WordsIn(base_name);
  std::erase_if(words,
                [](std::string_view word) { return SplitNamed(word).empty(); });
  return words;
}

// The split of a word that is made of one for it and one for images.
std::string_view SplitInWord(std::string_view word) {
  constexpr std::array<std::string_view, 12> kOthers = {
      "set",  "sets",   "dataset", "data",  "images", "image",
      "imgs", "photos", "samples", "split", "labels", "masks"};
  const auto named = [](std::string_view part) -> std::string_view {
    const std::string_view split = SplitNamed(part);  // "tr": nnU-Net's
    return !split.empty() ? split
           : part == "tr" ? "train"
           : part == "va" ? "validation"
           : part == "ts" ? "test"
                          : "";
  };
  const std::string lower = LowerCase(word);
  for (const std::string_view other : kOthers) {
    const std::string_view whole = lower;
    if (whole.ends_with(other)) {
      if (const auto split =
              named(whole.substr(0, whole.size() - other.size()));
          !split.empty()) {
        return split;
      }
    }
    if (whole.starts_with(other)) {
      if (const auto split = named(whole.substr(other.size()));
          !split.empty()) {
        return split;
      }
    }
  }
  // trainA
  return word.size() > 1 && word.back() <= 'Z' && word[word.size() - 2] >= 'a'
             ? SplitNamed(word.substr(0, word.size() - 1))
             : "";
}

// The first word for another split than that of the first word.
std::optional<std::string_view> OtherSplitWord(
    const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) {
    if (SplitNamed(word) != SplitNamed(words.front())) {
      return word;
    }
  }
  return std::nullopt;
}

bool IsSplitFolder(const std::string& folder) {
  return !SplitNamed(BaseName(folder)).empty();
}

// The data set's folder.
std::string RootOf(const std::string& shard) {
  std::string folder = ParentFolder(shard);
  return IsSplitFolder(folder) ? ParentFolder(folder) : folder;
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
    if (IsLetter(*at)) {
      end = std::find_if_not(at, name.end(), IsLetter);
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

}  // namespace

std::string_view SplitNamed(std::string_view word) {
  const std::string lower = LowerCase(word);
  const auto* const found = std::ranges::find_if(
      kWords, [&](const auto& known) { return known.first == lower; });
  return found == kWords.end() ? "" : found->second;
}

std::string_view SplitInName(std::string_view base_name) {
  const std::vector<std::string_view> words = SplitWordsIn(base_name);
  return words.empty() ? "" : SplitNamed(words.front());
}

std::string_view LikelySplit(std::string_view folder) {
  std::string_view split = SplitInName(folder);
  for (const std::string_view word : WordsIn(folder)) {
    split = split.empty() ? SplitInWord(word) : split;
  }
  return split;
}

bool NamesTwoSplits(std::string_view base_name) {
  return OtherSplitWord(SplitWordsIn(base_name)).has_value();
}

void RefuseTwoSplits(const std::string& path) {
  const std::string name = FileNameOf(path);
  const std::vector<std::string_view> words = SplitWordsIn(name);
  if (const auto other = OtherSplitWord(words)) {
    throw UsageError(PathForMessages(path) + ": its name has words for two " +
                     "splits, " + std::string(words.front()) + " and " +
                     std::string(*other) +
                     ": rename the file so that it names one");
  }
}

bool MayBeOfSplit(std::string_view base_name, std::string_view split) {
  const std::string_view said = SplitInName(base_name);
  return said.empty() ? split == "train" || IsArchiveName(base_name)
                      : said == split;
}

std::string_view RequireSplitName(std::string_view word) {
  const std::string_view split = SplitNamed(word);
  if (split.empty()) {
    throw UsageError("split=" + std::string(word) +
                     ": no such split; there are train, validation (or val) "
                     "and test");
  }
  return split;
}

void RefuseTwoNamesOf(std::string_view split, const std::string& data,
                      const std::string& first, const std::string& second) {
  throw UsageError(data + ": has both " + first + " and " + second +
                   ", two names for " + std::string(split) +
                   ": remove or rename one");
}

std::vector<std::string> RecordFilesBelow(const std::string& root) {
  std::set<std::string> files;
  if (IsUrl(root) && !IsBucketScheme(ParseUrl(root).scheme)) {
    return {};  // A web server cannot list its files.
  }
  try {
    for (const std::string_view split : kSplits) {
      for (std::string& file : FindSplitFiles(root, split)) {
        files.insert(std::move(file));
      }
    }
  } catch (const StoppedError&) {
    throw;
  } catch (const IoError&) {
    if (!IsUrl(root)) {
      throw;
    }
  }
  return {files.begin(), files.end()};
}

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
