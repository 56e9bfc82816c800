#include "records/files/class_texts.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "records/bytes/name_text.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/text_lines.h"

namespace infeed {
namespace {

// The last one is Tiny ImageNet's.
constexpr std::array<const char*, 3> kTextFiles = {
    "class_names.txt", "LOC_synset_mapping.txt", "words.txt"};

constexpr std::int64_t kMaxTextsBytes = std::int64_t{1} << 30;

// path: for messages.
ClassTexts ParseClassTexts(const std::string& path, std::string_view text) {
  ClassTexts texts;
  std::size_t number = 0;
  for (const std::string_view line : Lines(text)) {
    const std::size_t tab = line.find('\t');
    const std::size_t blank = tab == line.npos ? line.find(' ') : tab;
    const std::string class_text =
        NameText(blank == line.npos ? "" : Trim(line.substr(blank)));
    CheckClassLine(path, ++number, class_text);
    if (blank != line.npos) {
      texts.emplace(NameText(Trim(line.substr(0, blank))), class_text);
    }
  }
  return texts;
}

}  // namespace

bool IsClassTextFile(std::string_view base_name) {
  return std::ranges::find(kTextFiles, base_name) != kTextFiles.end();
}

ClassTexts FindClassTexts(
    const std::string& root, const std::string& folder,
    const std::function<std::optional<std::string>(const std::string& path)>&
        find) {
  ClassTexts texts;
  for (const std::string& place : {std::string(), folder}) {
    for (const char* name : kTextFiles) {
      const std::string path = place + name;
      if (const std::optional<std::string> text = find(path)) {
        texts = ParseClassTexts(root + path, *text);
        break;
      }
    }
    if (!texts.empty() || folder.empty()) {
      break;
    }
  }
  return texts;
}

ClassTexts ReadClassTexts(const std::string& folder, const std::string& inner) {
  const std::string root = folder + (folder.ends_with('/') ? "" : "/");
  return FindClassTexts(root, inner, [&](const std::string& path) {
    return ReadWholeIfThere(root + path, kMaxTextsBytes);
  });
}

}  // namespace infeed
