#include "tools/inspect/head_table.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/image_header.h"
#include "records/bytes/plain_text.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "records/store/file_records.h"
#include "records/store/key_guess.h"

namespace infeed {
namespace {

constexpr std::size_t kLongestHeadText = 32;
constexpr std::size_t kMostHeadValues = 3;    // of a list
constexpr std::size_t kMostHeadFeatures = 8;  // of a record

// The key of an image, even of a damaged one, or an image by its header.
bool IsImage(const ExampleFeature& feature) {
  const auto* const values =
      std::get_if<std::vector<std::string_view>>(&feature.values);
  return feature.key == kImageKey || feature.key == "image/packed" ||
         (values != nullptr && values->size() == 1 &&
          !FindImageFormat(std::as_bytes(std::span(values->front()))).empty());
}

// Shows the values of a feature in a few characters.
struct ShortValues {
  std::string operator()(std::monostate /*none*/) const { return ""; }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    if (values.size() == 1) {
      return Shown(values.front());
    }
    std::string list;
    for (const T& value :
         std::span(values).first(std::min(values.size(), kMostHeadValues))) {
      list += (list.empty() ? "" : ",") + Shown(value);
    }
    return values.size() <= kMostHeadValues
               ? "[" + list + "]"
               : fmt::format("[{},\xE2\x80\xA6 of {}]", list, values.size());
  }

 private:
  static std::string Shown(std::string_view bytes) {
    return IsUtf8(bytes) && bytes.find('\0') == std::string_view::npos
               ? ShortText(bytes, kLongestHeadText)
               : FileSizeText(std::ssize(bytes));
  }
  template <typename Number>
  static std::string Shown(Number value) {
    return fmt::format("{}", value);
  }
};

std::string ImageSizeText(const ImagenetExampleView& example) {
  return example.width > 0 && example.height > 0
             ? fmt::format("{}x{}", example.width, example.height)
             : "-";
}

// A label that cannot be read is none, unless its key was given.
ImagenetExampleView ParseForHead(const Record& record,
                                 std::string_view label_key, bool is_given) {
  return ParseImagenetExample(record.payload,
                              is_given ? LabelList::kOne : LabelList::kAny,
                              {.label = label_key});
}

}  // namespace

HeadTable::HeadTable(std::string label_key,
                     std::function<void(const std::string&)> note)
    : given_(std::move(label_key)),
      note_(std::move(note)),
      images_({"shard", ">record", ">label", "text", ">size", ">bytes",
               "filename"}) {}

void HeadTable::Add(const std::string& path, const Record& record) {
  const std::vector<ExampleFeature> features = ListFeatures(record.payload);
  if (std::ranges::any_of(features, IsImage)) {
    AddImage(path, record);
    return;
  }
  std::vector<std::string> row = {FileNameOf(path),
                                  std::to_string(record.number),
                                  FileSizeText(std::ssize(record.payload))};
  const std::size_t shown = std::min(features.size(), kMostHeadFeatures);
  for (const ExampleFeature& feature : std::span(features).first(shown)) {
    row.push_back(ShortText(feature.key, kLongestHeadText) + "=" +
                  std::visit(ShortValues(), feature.values));
  }
  if (shown < features.size()) {
    row.push_back(fmt::format("and {} more", features.size() - shown));
  }
  others_.push_back(std::move(row));
}

std::string HeadTable::Text() const {
  if (others_.empty()) {
    return images_.Text();
  }
  std::vector<std::string> columns = {"shard", ">record", ">bytes", "features"};
  columns.resize(std::max(columns.size(),
                          std::ranges::max(others_, {}, [](const auto& row) {
                            return row.size();
                          }).size()));
  TextTable table(columns);
  for (std::vector<std::string> row : others_) {
    row.resize(columns.size());
    table.Add(std::move(row));
  }
  return (has_images_ ? images_.Text() + "\n" : "") + table.Text();
}

void HeadTable::AddImage(const std::string& path, const Record& record) {
  const bool is_given = given_ != kLabelKey;
  ImagenetExampleView example = ParseForHead(record, given_, is_given);
  if (example.label < 0 && !is_given && IsGuessed(path)) {
    const std::string key = GuessKey(path, record);
    example = ParseForHead(record, key, false);
  }
  has_images_ = true;
  images_.Add({FileNameOf(path), std::to_string(record.number),
               example.label >= 0 ? std::to_string(example.label) : "-",
               ShortText(example.text.empty() ? example.synset : example.text,
                         kLongestHeadText),
               ImageSizeText(example), FileSizeText(std::ssize(record.payload)),
               ShortText(example.filename, kLongestHeadText)});
}

bool HeadTable::IsGuessed(const std::string& path) {
  if (path != shard_) {
    shard_ = path;
    is_guessed_ = DetectFormat(*OpenSource(path)) == RecordFormat::kTfrecord;
  }
  return is_guessed_;
}

// From the record alone: an index of the shard would read all of it.
std::string HeadTable::GuessKey(const std::string& path, const Record& record) {
  try {
    return LabelKeyOf(record.payload, path);
  } catch (const UsageError& error) {  // Two fit: the others are shown.
    note_(error.what());
    is_guessed_ = false;
  }
  return given_;
}

}  // namespace infeed
