#include "records/archives/zip_index_file.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "records/bytes/little_endian.h"
#include "records/files/shards.h"
#include "records/files/side_file.h"
#include "records/tfrecord/number_file.h"

namespace infeed {
namespace {

constexpr std::string_view kZipIndexMagic = "infeedZI";
constexpr std::string_view kZipIndexEnding = ".index";
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

// The list holds what a file made by another program says.
bool IsPossible(const ZipImages::Image& image, std::int64_t zip_bytes,
                std::size_t classes) {
  return image.offset >= 0 && image.extent > 0 &&
         image.extent <= zip_bytes - image.offset && image.bytes >= 0 &&
         image.class_index >= -1 &&
         image.class_index < static_cast<std::int64_t>(classes) &&
         image.split >= 0 &&
         image.split < static_cast<std::int64_t>(kSplits.size());
}

std::optional<ZipImages> Parse(const NumberFile& file) {
  NumberReader from(file.numbers);
  ZipImages found = {.classes = from.Texts(),
                     .images = {},
                     .left_out = from.Next(),
                     .bad_names = from.Texts()};
  found.images.resize(from.Count(kImageNumbers));
  for (ZipImages::Image& image : found.images) {
    image = {.offset = from.Next(),
             .extent = from.Next(),
             .bytes = from.Next(),
             .class_index = static_cast<std::int32_t>(from.Next()),
             .split = static_cast<std::int32_t>(from.Next())};
    if (!IsPossible(image, file.shard_size, found.classes.size())) {
      return std::nullopt;
    }
  }
  return from.IsWholeFile() ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace

std::optional<ZipImages> FindZipIndex(const ByteSource& zip) {
  for (const std::string& path : SidePaths(zip.path(), kZipIndexEnding)) {
    const std::optional<NumberFile> file = ReadNumberFile(path, kZipIndexMagic);
    if (file && file->IsOf(zip)) {
      if (std::optional<ZipImages> images = Parse(*file)) {
        return images;
      }
    }
  }
  return std::nullopt;
}

std::string SaveZipIndex(const ByteSource& zip, const ZipImages& images) {
  Numbers numbers;
  const auto append_texts = [&](const std::vector<std::string>& texts) {
    numbers.push_back(std::ssize(texts));
    for (const std::string& text : texts) {
      AppendText(text, numbers);
    }
  };
  append_texts(images.classes);
  numbers.push_back(images.left_out);
  append_texts(images.bad_names);
  numbers.push_back(std::ssize(images.images));
  numbers.reserve(numbers.size() + images.images.size() * kImageNumbers);
  for (const ZipImages::Image& image : images.images) {
    numbers.insert(numbers.end(), {image.offset, image.extent, image.bytes,
                                   image.class_index, image.split});
  }
  std::string path = SidePathToWrite(zip.path(), kZipIndexEnding);
  WriteFileAtomically(path, NumberFileText(zip, kZipIndexMagic, numbers),
                      kInOwnFolder);
  return path;
}

}  // namespace infeed
