#include "records/archives/archive_index_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "records/bytes/little_endian.h"
#include "records/files/side_file.h"
#include "records/files/split_names.h"
#include "records/tfrecord/number_file.h"

namespace infeed {
namespace {

constexpr std::string_view kArchiveIndexMagic = "infeedAI";
constexpr std::string_view kArchiveIndexEnding = ".index";
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kImageNumbers = 5;

using Numbers = std::vector<std::int64_t>;

// A text is its length, then its bytes, eight in a number.
void AppendText(std::string_view text, Numbers& numbers) {
  numbers.push_back(static_cast<std::int64_t>(text.size()));
  std::string padded(text);
  padded.resize((text.size() + kNumberBytes - 1) / kNumberBytes * kNumberBytes);
  const auto bytes = std::as_bytes(std::span(padded));
  for (std::size_t at = 0; at < bytes.size(); at += kNumberBytes) {
    numbers.push_back(
        static_cast<std::int64_t>(LittleEndianAt(bytes, at, kNumberBytes)));
  }
}

// Takes numbers from the front of a file's. Behind the end, or after a count
// that cannot be, all are 0 and the file is not good.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::int64_t> numbers)
      : left_(numbers) {}

  std::int64_t Next() {
    if (left_.empty()) {
      is_good_ = false;
      return 0;
    }
    const std::int64_t number = left_.front();
    left_ = left_.subspan(1);
    return number;
  }

  // A count of items that take at least so many numbers each.
  std::size_t Count(std::size_t numbers_each) {
    const auto count = static_cast<std::uint64_t>(Next());
    if (count > left_.size() / numbers_each) {
      is_good_ = false;
      return 0;
    }
    return static_cast<std::size_t>(count);
  }

  std::string Text() {
    const auto bytes = static_cast<std::uint64_t>(Next());
    if (bytes > left_.size() * kNumberBytes) {
      is_good_ = false;
      return "";
    }
    std::string text;
    while (text.size() < bytes) {
      AppendLittleEndian(text, static_cast<std::uint64_t>(Next()),
                         kNumberBytes);
    }
    text.resize(static_cast<std::size_t>(bytes));
    return text;
  }

  std::vector<std::string> Texts() {
    std::vector<std::string> texts(Count(1));
    for (std::string& text : texts) {
      text = Text();
    }
    return texts;
  }

  [[nodiscard]] bool IsWholeFile() const { return is_good_ && left_.empty(); }

 private:
  std::span<const std::int64_t> left_;
  bool is_good_ = true;
};

// The list holds what a file made by another program says. end: of the archive;
// of a compressed one it is not known.
bool IsPossible(const ArchiveImages::Image& image, std::int64_t end,
                std::size_t classes) {
  return image.offset >= 0 && image.extent > 0 && image.offset <= end &&
         image.extent <= end - image.offset && image.bytes >= 0 &&
         image.class_index >= -1 &&
         image.class_index < static_cast<std::int64_t>(classes) &&
         image.split >= 0 &&
         image.split < static_cast<std::int64_t>(kSplits.size());
}

std::optional<ArchiveFileIndex> Parse(const NumberFile& file) {
  NumberReader from(file.numbers);
  ArchiveFileIndex index;
  const std::int64_t is_tar = from.Next();
  const std::int64_t compression = from.Next();
  index.found.has_splits = from.Next() != 0;
  if (is_tar < 0 || is_tar > 1 || compression < 0 ||
      compression > static_cast<std::int64_t>(Compression::kZlib)) {
    return std::nullopt;
  }
  index.is_tar = is_tar == 1;
  index.compression = static_cast<Compression>(compression);
  index.found.classes = from.Texts();
  index.found.notes = from.Texts();
  index.found.images.resize(from.Count(kImageNumbers));
  const std::int64_t end = index.compression == Compression::kNone
                               ? file.shard_size
                               : std::numeric_limits<std::int64_t>::max();
  for (ArchiveImages::Image& image : index.found.images) {
    image = {.offset = from.Next(),
             .extent = from.Next(),
             .bytes = from.Next(),
             .class_index = static_cast<std::int32_t>(from.Next()),
             .split = static_cast<std::int32_t>(from.Next())};
    if (!IsPossible(image, end, index.found.classes.size())) {
      return std::nullopt;
    }
  }
  return from.IsWholeFile() ? std::optional(std::move(index)) : std::nullopt;
}

}  // namespace

std::optional<ArchiveFileIndex> FindArchiveIndex(const ByteSource& archive) {
  for (const std::string& path :
       SidePaths(archive.path(), kArchiveIndexEnding)) {
    const std::optional<NumberFile> file =
        ReadNumberFile(path, kArchiveIndexMagic);
    if (file && file->IsOf(archive)) {
      if (std::optional<ArchiveFileIndex> index = Parse(*file)) {
        return index;
      }
    }
  }
  return std::nullopt;
}

std::string SaveArchiveIndex(const ByteSource& archive,
                             const ArchiveFileIndex& index) {
  Numbers numbers = {index.is_tar ? 1 : 0,
                     static_cast<std::int64_t>(index.compression),
                     index.found.has_splits ? 1 : 0};
  for (const std::vector<std::string>& texts :
       {index.found.classes, index.found.notes}) {
    numbers.push_back(std::ssize(texts));
    for (const std::string& text : texts) {
      AppendText(text, numbers);
    }
  }
  const std::vector<ArchiveImages::Image>& images = index.found.images;
  numbers.push_back(std::ssize(images));
  numbers.reserve(numbers.size() + images.size() * kImageNumbers);
  for (const ArchiveImages::Image& image : images) {
    numbers.insert(numbers.end(), {image.offset, image.extent, image.bytes,
                                   image.class_index, image.split});
  }
  std::string path = SidePathToWrite(archive.path(), kArchiveIndexEnding);
  WriteFileAtomically(
      path, NumberFileText(archive, kArchiveIndexMagic, numbers), kInOwnFolder);
  return path;
}

}  // namespace infeed
