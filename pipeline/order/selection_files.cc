#include "pipeline/order/selection_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/text_lines.h"
#include "records/store/label_index.h"
#include "records/tfrecord/index_file.h"

namespace infeed {
namespace {

// Throws a DataError about a line.
[[noreturn]] void Refuse(const std::string& path, std::size_t line,
                         const std::string& why) {
  throw DataError({.path = path},
                  "line " + std::to_string(line + 1) + ": " + why);
}

// The number in a text; nullopt: not a number.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  const bool is_number =
      error == std::errc{} && last == end && !HasLeadingZero(text);
  return is_number ? std::optional(number) : std::nullopt;
}

// "17" or "100-199".
std::optional<RecordRange> ParseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = ParseNumber<std::int64_t>(Trim(text.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos
          ? first
          : ParseNumber<std::int64_t>(Trim(text.substr(dash + 1)));
  if (!first || !last || *first < 0 || *last < *first) {
    return std::nullopt;
  }
  return RecordRange{.first = *first, .count = *last - *first + 1};
}

}  // namespace

std::vector<std::uint32_t> ReadRecordList(const std::string& path,
                                          std::int64_t records) {
  const std::vector<std::string> lines = ReadLines(path, kNamedByUser);
  std::vector<std::uint32_t> list;
  std::vector<bool> is_listed(static_cast<std::size_t>(records));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<RecordRange> range = ParseRange(lines[i]);
    if (!range) {
      Refuse(path, i,
             "\"" + lines[i] +
                 "\" is neither a record's number nor a range such as 100-199");
    }
    // Compared in a way that cannot overflow.
    if (range->first >= records || range->count > records - range->first) {
      Refuse(path, i,
             "the data set has only " + CountText(records, "record") +
                 ", counted from 0");
    }
    for (std::int64_t j = 0; j < range->count; ++j) {
      const auto record = static_cast<std::size_t>(range->first + j);
      if (is_listed[record]) {
        Refuse(path, i,
               "record " + std::to_string(record) +
                   " is listed for the second time");
      }
      is_listed[record] = true;
      list.push_back(static_cast<std::uint32_t>(record));
    }
  }
  return list;
}

double ParseWeight(std::string_view text) {
  const std::optional<double> weight = ParseNumber<double>(text);
  return weight && std::isfinite(*weight) && *weight >= 0 ? *weight : -1;
}

std::vector<double> ReadSampleWeights(const std::string& path,
                                      std::int64_t records) {
  const std::vector<std::string> lines = ReadLines(path, kNamedByUser);
  if (std::ssize(lines) != records) {
    throw DataError({.path = path}, "has " + std::to_string(lines.size()) +
                                        " lines, but the data set has " +
                                        std::to_string(records) +
                                        " records: give one line for each");
  }
  std::vector<double> weights;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    weights.push_back(ParseWeight(lines[i]));
    if (weights.back() < 0) {
      Refuse(path, i, "\"" + lines[i] + "\" is not a weight");
    }
  }
  return weights;
}

std::map<std::string, double> ReadClassWeights(const std::string& path) {
  const std::vector<std::string> lines = ReadLines(path, kNamedByUser);
  std::map<std::string, double> weights;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // The weight is the last word: a class name may contain blanks.
    const std::size_t blank = lines[i].find_last_of(kBlanks);
    const std::string_view line = lines[i];
    const double weight =
        blank == std::string::npos ? -1 : ParseWeight(line.substr(blank + 1));
    if (weight < 0) {
      Refuse(path, i, "\"" + lines[i] + "\" is not a class and its weight");
    }
    const std::string name(Trim(line.substr(0, blank)));
    if (!weights.emplace(name, weight).second) {
      Refuse(path, i, "class " + name + " already has a weight");
    }
  }
  return weights;
}

ClassNames::ClassNames(const RecordIndex& index, const std::string& label_key) {
  IndexClasses classes = FindNumberedClasses(index, label_key);
  names_ = std::move(classes.names);
  first_label_ = classes.first.value_or(first_label_);
}

std::int64_t ClassNames::LabelOf(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), NameText(name));
  if (found != names_.end()) {
    return found - names_.begin() + first_label_;
  }
  const auto label = ParsePlainNumber<std::int64_t>(name);
  if (!label || *label < 0) {
    throw UsageError(
        "there is no class \"" + name +
        "\": give a name from dataset.json or labels.txt, or a label");
  }
  return *label;
}

std::string ClassNames::NameOf(std::int64_t label) const {
  const std::int64_t index = label - first_label_;
  return label >= first_label_ && index < std::ssize(names_)
             ? names_[static_cast<std::size_t>(index)]
             : std::to_string(label);
}

}  // namespace infeed
