#include "records/files/class_list.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/json.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/text_lines.h"

namespace infeed {
namespace {

using ReadJson = nlohmann::json;

constexpr std::int64_t kMaxClassListBytes = std::int64_t{64} << 20;

// In quotes, with escapes, so that a message is one line.
std::string Quoted(std::string_view name) {
  constexpr std::size_t kMostShown = 80;
  return ReadJson(name.substr(0, kMostShown))
      .dump(-1, ' ', true, ReadJson::error_handler_t::replace);
}

// Whether each line is its number from 0 on, a colon and a name.
bool AreNumbered(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(std::to_string(i) + ":")) {
      return false;
    }
  }
  return !lines.empty();
}

}  // namespace

void CheckClassCount(std::size_t classes) {
  if (classes > kMostClasses) {
    throw DataError(std::to_string(classes) + " classes; at most " +
                    std::to_string(kMostClasses) +
                    " are possible: check that the labels are class numbers");
  }
}

void CheckClassName(std::string_view name) {
  if (HasControl(name)) {
    throw DataError("the name of class " + Quoted(name) +
                    " has a newline, a tab or another control character: "
                    "rename the class");
  }
}

void CheckClassLine(const std::string& path, std::size_t line,
                    std::string_view text) {
  if (HasControl(text)) {
    throw DataError({.path = path}, "line " + std::to_string(line) +
                                        ": a control character in " +
                                        Quoted(text) + ": remove it");
  }
}

void CheckClassLines(const std::string& path,
                     const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (Trim(lines[i]).empty()) {
      throw DataError({.path = path},
                      "line " + std::to_string(i + 1) +
                          " is empty: each line is the name of a class; remove "
                          "the line, or name the class");
    }
  }
  if (AreNumbered(lines)) {
    throw DataError({.path = path},
                    "the lines begin with their numbers (" + Quoted(lines[0]) +
                        "): each line is the name of a class alone; remove the "
                        "numbers (sed -i 's/^[0-9]*://')");
  }
}

void NoteOneClass(const std::vector<std::string>& classes,
                  std::vector<std::string>& notes) {
  if (classes.size() != 1) {
    return;
  }
  std::string note = "there is only one class, " + classes.front() +
                     ": check that the data are the ones you mean";
  if (std::ranges::find(notes, note) == notes.end()) {
    notes.push_back(std::move(note));
  }
}

std::vector<std::string> ReadClassList(const std::string& path) {
  std::vector<std::string> lines;
  const std::optional<std::string> whole =
      ReadWholeIfThere(path, kMaxClassListBytes);
  if (!whole) {
    return lines;
  }
  std::string_view text = WithoutMark(*whole);
  while (!text.empty()) {
    lines.push_back(NameText(TakeLine(text)));
    CheckClassLine(path, lines.size(), lines.back());
    if (lines.size() > kMostClasses) {
      throw DataError(
          {.path = path},
          "more than " + std::to_string(kMostClasses) +
              " lines: each line is the name of a class, and no more "
              "are supported");
    }
  }
  while (!lines.empty() && Trim(lines.back()).empty()) {
    lines.pop_back();
  }
  return lines;
}

namespace {

// The last one is Tiny ImageNet's.
constexpr std::array<const char*, 3> kTextFiles = {
    "class_names.txt", "LOC_synset_mapping.txt", "words.txt"};

constexpr std::int64_t kMaxTextsBytes = std::int64_t{1} << 30;

void NoteUnusedTexts(const std::string& path, const ClassTexts& texts,
                     const std::vector<std::string>& classes,
                     std::vector<std::string>& notes) {
  std::vector<std::string_view> unused;
  for (const auto& [name, text] : texts) {
    if (!std::ranges::binary_search(classes, name)) {
      unused.push_back(name);
    }
  }
  if (!unused.empty() && !classes.empty()) {
    notes.push_back(path + ": " +
                    CountText(unused.size(), "line names", "lines name") +
                    " no class, such as " + std::string(unused.front()) +
                    ": a line is a class, a tab and its readable name");
  }
}

// path: for messages.
ClassTexts ParseClassTexts(const std::string& path, std::string_view text) {
  ClassTexts texts;
  std::size_t number = 0;
  for (const std::string_view line : Lines(text)) {
    const std::size_t tab = line.find('\t');
    const std::size_t blank = tab == line.npos ? line.find(' ') : tab;
    const std::string class_text =
        NameText(blank == line.npos ? "" : Trim(line.substr(blank)));
    const std::string name = NameText(Trim(line.substr(0, blank)));
    ++number;
    for (const std::string& one : {name, class_text}) {
      CheckClassLine(path, number, one);
    }
    if (blank != line.npos) {
      texts.emplace(name, class_text);
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
    const std::vector<std::string>& classes,
    const std::function<std::optional<std::string>(const std::string& path)>&
        find,
    std::vector<std::string>& notes) {
  ClassTexts texts;
  for (const std::string& place : {std::string(), folder}) {
    for (const char* name : kTextFiles) {
      const std::string path = place + name;
      if (const std::optional<std::string> text = find(path)) {
        texts = ParseClassTexts(root + path, *text);
        if (path.ends_with(
                kTextFiles[0])) {  // ImageNet's files name more classes.
          NoteUnusedTexts(root + path, texts, classes, notes);
        }
        break;
      }
    }
    if (!texts.empty() || folder.empty()) {
      break;
    }
  }
  return texts;
}

ClassTexts ReadClassTexts(const std::string& folder, const std::string& inner,
                          const std::vector<std::string>& classes,
                          std::vector<std::string>& notes) {
  const std::string root = folder + (folder.ends_with('/') ? "" : "/");
  return FindClassTexts(
      root, inner, classes,
      [&](const std::string& path) {
        return ReadWholeIfThere(root + path, kMaxTextsBytes);
      },
      notes);
}

}  // namespace infeed
