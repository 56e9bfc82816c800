#include "tools/images/raw_formats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/text_lines.h"
#include "tools/images/raw_images.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxFetchedBytes = std::int64_t{256} << 20;

// A raw file, or the object that a URL names.
struct RawFile {
  std::shared_ptr<const ByteSource> bytes;
  std::int64_t version = 0;  // ByteSource::version() of the file
};

// One raw file, with the class index of each image.
struct LabelledPart {
  std::string split;
  RawPart part;
  std::vector<std::int32_t> classes;
};

struct RawSet {
  std::vector<LabelledPart> parts;
  std::vector<ImageClass> classes;
  std::vector<std::string> notes;
};

// An object of at most kMaxFetchedBytes is fetched whole, as its images are
// read one by one, in any order.
RawFile OpenRawFile(const std::string& path) {
  std::shared_ptr<const ByteSource> source = OpenSource(path);
  const std::int64_t version = source->version();
  if (IsUrl(path) && source->size() <= kMaxFetchedBytes) {
    source = std::make_shared<MemorySource>(source->path(),
                                            ReadAll(*source, kMaxFetchedBytes));
  }
  return {std::move(source), version};
}

// Throws IoError when there are fewer bytes.
std::vector<std::byte> ReadBytes(const ByteSource& source, std::int64_t offset,
                                 std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  if (source.ReadAt(offset, bytes) != bytes.size()) {
    throw IoError(source.path() + ": became shorter while it was read");
  }
  return bytes;
}

// XLA.jl's images and labels.
constexpr int kXlaJlSide = 224;
constexpr std::int64_t kXlaJlImageBytes = 3 * kXlaJlSide * kXlaJlSide;
constexpr std::int64_t kXlaJlLabelBytes = 2;
constexpr int kXlaJlMaxLabel = 1000;

// The largest side that fits into the JPEG of a record, and into memory.
constexpr std::int64_t kMaxSide = 65500;
constexpr std::int64_t kMaxPixels = 178956970;

// A CIFAR-10 record is a label and the planes.
constexpr int kCifarSide = 32;
constexpr std::int64_t kCifarImageBytes = 3 * kCifarSide * kCifarSide;
constexpr std::int64_t kCifarRecordBytes = 1 + kCifarImageBytes;
constexpr int kCifarBatches = 5;
constexpr const char* kCifarNames = "batches.meta.txt";

std::int32_t Largest(const RawSet& set) {
  std::int32_t largest = 0;
  for (const LabelledPart& part : set.parts) {
    for (const std::int32_t number : part.classes) {
      largest = std::max(largest, number);
    }
  }
  return largest;
}

// Names classes by numbers, with leading zeros so that they sort numerically.
void NumberClasses(int first, int count, std::size_t digits, RawSet& set) {
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("{:0{}}", first + i, digits);
    set.classes.push_back({name, name});
  }
}

[[noreturn]] void FailMissing(const std::string& images_path,
                              const std::string& labels) {
  throw UsageError(images_path + ": " + labels + " is missing beside it");
}

[[noreturn]] void FailXlaJlSize(const std::string& images_path,
                                std::int64_t images_bytes, std::int64_t count,
                                const std::string& labels_path) {
  throw DataError(
      {.path = images_path},
      fmt::format("has {} bytes, {:.2f} images of 3 x 224 x 224; the {} labels "
                  "in {} ask for {}: make both files of the same images again, "
                  "each of 224 x 224 pixels",
                  images_bytes,
                  static_cast<double>(images_bytes) / kXlaJlImageBytes, count,
                  labels_path, count * kXlaJlImageBytes));
}

// X_<split>.raw and Y_<split>.raw.
LabelledPart ReadXlaJlPart(const std::string& images_path,
                           const std::string& labels_path) {
  if (!IsThere(labels_path)) {
    FailMissing(images_path, std::string(BaseName(labels_path)));
  }
  const RawFile labels_file = OpenRawFile(labels_path);
  const ByteSource& labels = *labels_file.bytes;
  LabelledPart part;
  RawFile images = OpenRawFile(images_path);
  const std::int64_t count = labels.size() / kXlaJlLabelBytes;
  if (labels.size() % kXlaJlLabelBytes != 0 || count == 0) {
    throw DataError({.path = labels_path},
                    "has " + std::to_string(labels.size()) +
                        " bytes; expected two for each label");
  }
  const std::int64_t images_bytes = images.bytes->size();
  if (images_bytes / kXlaJlImageBytes != count ||
      images_bytes % kXlaJlImageBytes != 0) {
    FailXlaJlSize(images_path, images_bytes, count, labels_path);
  }
  const std::vector<std::byte> bytes = ReadBytes(labels, 0, labels.size());
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const int label = std::to_integer<int>(bytes[i]) |
                      std::to_integer<int>(bytes[i + 1]) << 8;
    if (label < 1 || label > kXlaJlMaxLabel) {
      throw DataError(
          {.path = labels_path,
           .record = static_cast<std::int64_t>(i) / 2,
           .offset = static_cast<std::int64_t>(i)},
          fmt::format("label {} is none of 1 to {}", label, kXlaJlMaxLabel));
    }
    part.classes.push_back(label - 1);
  }
  part.part = {.bytes = std::move(images.bytes),
               .layout = PixelLayout::kColumnwisePlanes,
               .width = kXlaJlSide,
               .height = kXlaJlSide,
               .count = count,
               .version = images.version,
               .first = 0,
               .stride = kXlaJlImageBytes};
  return part;
}

// The first existing file among its possible names, or "".
std::string FindIdx(const std::string& folder, const std::string& name,
                    int dimensions) {
  for (const char* separator : {"-", "."}) {
    for (const char* packed : {"", ".gz"}) {
      std::string path = fmt::format("{}/{}{}idx{}-ubyte{}", folder, name,
                                     separator, dimensions, packed);
      if (IsThere(path)) {
        return path;
      }
    }
  }
  return "";
}

LabelledPart ReadIdxPart(const std::string& images_path,
                         const std::string& labels_path) {
  const RawFile images_file = OpenRawFile(images_path);
  IdxFile images = OpenIdx(images_file.bytes, 3);
  const IdxFile labels = OpenIdx(OpenRawFile(labels_path).bytes, 1);
  const std::int64_t count = images.sizes[0];
  if (labels.sizes[0] != count) {
    throw DataError({.path = labels_path},
                    fmt::format("has {} labels, but {} has {} images",
                                labels.sizes[0], images_path, count));
  }
  const std::int64_t height = images.sizes[1];
  const std::int64_t width = images.sizes[2];
  if (height > kMaxSide || width > kMaxSide || height * width > kMaxPixels) {
    throw DataError({.path = images_path},
                    fmt::format("images of {}x{} pixels are over the limit",
                                width, height));
  }
  LabelledPart part;
  for (const std::byte label : ReadBytes(*labels.bytes, labels.first, count)) {
    part.classes.push_back(std::to_integer<std::int32_t>(label));
  }
  part.part = {.bytes = std::move(images.bytes),
               .layout = PixelLayout::kGray,
               .width = static_cast<int>(width),
               .height = static_cast<int>(height),
               .count = count,
               .version = images_file.version,
               .first = images.first,
               .stride = height * width};
  return part;
}

LabelledPart ReadCifarPart(const std::string& path, int classes) {
  RawFile raw = OpenRawFile(path);
  const std::shared_ptr<const ByteSource>& file = raw.bytes;
  const std::int64_t count = file->size() / kCifarRecordBytes;
  if (file->size() % kCifarRecordBytes != 0 || count == 0) {
    throw DataError(
        {.path = path},
        fmt::format(
            "has {} bytes; expected records of {}: a label and 3x32x32 pixels",
            file->size(), kCifarRecordBytes));
  }
  LabelledPart part;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t offset = i * kCifarRecordBytes;
    const auto label =
        std::to_integer<int>(ReadBytes(*file, offset, 1).front());
    if (label >= classes) {
      throw DataError(
          {.path = path, .record = i, .offset = offset},
          fmt::format("label {} is not in 0 to {}", label, classes - 1));
    }
    part.classes.push_back(label);
  }
  part.part = {.bytes = std::move(raw.bytes),
               .layout = PixelLayout::kPlanes,
               .width = kCifarSide,
               .height = kCifarSide,
               .count = count,
               .version = raw.version,
               .first = 1,
               .stride = kCifarRecordBytes};
  return part;
}

// Labels are indices of the names in the meta file. Classes are sorted by name;
// so if the names are in another order, classes are numbered and the names
// become their texts.
void NameCifarClasses(const std::string& folder, RawSet& set) {
  const std::string path = folder + "/" + kCifarNames;
  std::vector<std::string> names;
  if (IsThere(path)) {
    names = ReadLines(path);
  } else {
    set.notes.push_back(path + ": is not there; classes are called 0 to 9");
  }
  const bool sorted = std::adjacent_find(names.begin(), names.end(),
                                         std::greater_equal<>()) == names.end();
  if (sorted && !names.empty()) {
    for (const std::string& name : names) {
      set.classes.push_back({name, name});
    }
    return;
  }
  const int count = names.empty() ? 10 : static_cast<int>(names.size());
  NumberClasses(0, count, std::to_string(count - 1).size(), set);
  for (std::size_t i = 0; i < names.size(); ++i) {
    set.classes[i].text = names[i];
  }
}

RawSet ReadXlaJl(const std::string& folder) {
  RawSet set;
  for (const auto& [split, name] :
       {std::pair("train", "train"), std::pair("validation", "val")}) {
    const std::string images = folder + "/X_" + name + ".raw";
    if (IsThere(images)) {
      set.parts.push_back(
          ReadXlaJlPart(images, folder + "/Y_" + name + ".raw"));
      set.parts.back().split = split;
    }
  }
  NumberClasses(1, Largest(set) + 1, 4, set);
  return set;
}

RawSet ReadIdx(const std::string& folder) {
  RawSet set;
  for (const auto& [split, name] :
       {std::pair("train", "train"), std::pair("test", "t10k")}) {
    const std::string images =
        FindIdx(folder, std::string(name) + "-images", 3);
    if (images.empty()) {
      continue;
    }
    const std::string labels =
        FindIdx(folder, std::string(name) + "-labels", 1);
    if (labels.empty()) {
      FailMissing(images, std::string(name) + "-labels-idx1-ubyte");
    }
    set.parts.push_back(ReadIdxPart(images, labels));
    set.parts.back().split = split;
  }
  const int count = std::max(Largest(set) + 1, 10);
  NumberClasses(0, count, std::to_string(count - 1).size(), set);
  return set;
}

RawSet ReadCifar10(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (int i = 1; i <= kCifarBatches; ++i) {
    files.emplace_back("train", fmt::format("{}/data_batch_{}.bin", folder, i));
  }
  files.emplace_back("test", folder + "/test_batch.bin");
  RawSet set;
  NameCifarClasses(folder, set);
  for (const auto& [split, path] : files) {
    if (!IsThere(path)) {
      set.notes.push_back(path + ": is not there");
      continue;
    }
    set.parts.push_back(
        ReadCifarPart(path, static_cast<int>(set.classes.size())));
    set.parts.back().split = split;
  }
  return set;
}

struct RawReader {
  RawFormat format;
  RawSet (*read)(const std::string& folder);
  const char* files;  // for messages
};
constexpr std::array<RawReader, 3> kReaders = {
    {{RawFormat::kXlaJl, ReadXlaJl,
      "X_train.raw and Y_train.raw, X_val.raw and Y_val.raw"},
     {RawFormat::kIdx, ReadIdx,
      "train-images-idx3-ubyte and train-labels-idx1-ubyte, the same with "
      "t10k, each with or without .gz"},
     {RawFormat::kCifar10, ReadCifar10,
      "data_batch_1.bin to data_batch_5.bin, test_batch.bin"}}};

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
  const auto* const reader =
      std::ranges::find(kReaders, format, &RawReader::format);
  Check(reader != kReaders.end(), "a raw format has files");
  RawSet set = reader->read(folder);
  if (set.parts.empty()) {
    throw UsageError(folder + ": has none of the files of this --raw_format: " +
                     reader->files);
  }
  ImageTree tree;
  tree.classes = std::move(set.classes);
  tree.notes = std::move(set.notes);
  std::vector<std::string> names;
  for (const ImageClass& image_class : tree.classes) {
    names.push_back(image_class.name);
  }
  std::ranges::sort(names);
  const ClassTexts texts = ReadClassTexts(folder, "", names, tree.notes);
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
