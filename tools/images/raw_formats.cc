#include "tools/images/raw_formats.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "tools/images/label_files.h"
#include "tools/images/raw_images.h"
#include "tools/images/raw_sets.h"

namespace infeed {
namespace {

RawSet ReadSet(const std::string& folder, RawFormat format) {
  switch (format) {
    case RawFormat::kImages:
      break;
    case RawFormat::kXlaJl:
      return ReadXlaJl(folder);
    case RawFormat::kIdx:
      return ReadIdx(folder);
    case RawFormat::kCifar10:
      return ReadCifar10(folder);
  }
  Check(false, "a raw format has files");
  return {};
}

std::string ExpectedFiles(RawFormat format) {
  switch (format) {
    case RawFormat::kImages:
      break;
    case RawFormat::kXlaJl:
      return "X_train.raw and Y_train.raw, X_val.raw and Y_val.raw";
    case RawFormat::kIdx:
      return "train-images-idx3-ubyte and train-labels-idx1-ubyte, the same "
             "with t10k, each with or without .gz";
    case RawFormat::kCifar10:
      return "data_batch_1.bin to data_batch_5.bin, test_batch.bin";
  }
  return "";
}

// Lists the images of a part and appends them to its split.
void TakePart(const LabelledPart& labelled, std::int64_t first_index,
              ImageTree& tree) {
  if (tree.splits.empty() || tree.splits.back().name != labelled.split) {
    tree.splits.push_back({labelled.split, {}});
  }
  const RawPart& part = labelled.part;
  const std::size_t digits =
      std::max(std::to_string(part.count - 1).size(), std::size_t{5});
  for (std::int64_t i = 0; i < part.count; ++i) {
    tree.splits.back().images.push_back(
        {.path = fmt::format("{}#{:0{}}", part.bytes->path(), i, digits),
         .class_index = labelled.classes[static_cast<std::size_t>(i)],
         .bytes = part.image_bytes(),
         .raw_index = first_index + i});
  }
}

}  // namespace

ImageTree FindRawImages(const std::string& folder, RawFormat format) {
  RawSet set = ReadSet(folder, format);
  if (set.parts.empty()) {
    throw UsageError(folder + ": has none of the files of this --raw_format: " +
                     ExpectedFiles(format));
  }
  ImageTree tree;
  tree.classes = std::move(set.classes);
  tree.notes = std::move(set.notes);
  const std::map<std::string, std::string> texts = ReadClassTexts(folder);
  for (ImageClass& image_class : tree.classes) {
    const auto text = texts.find(image_class.name);
    if (text != texts.end()) {
      image_class.text = text->second;
    }
  }
  std::vector<RawPart> parts;
  std::int64_t next_index = 0;
  for (LabelledPart& part : set.parts) {
    TakePart(part, next_index, tree);
    next_index += part.part.count;
    tree.has_split_folders |= part.split != "train";
    parts.push_back(std::move(part.part));
  }
  tree.raw = std::make_shared<RawImages>(std::move(parts));
  return tree;
}

}  // namespace infeed
