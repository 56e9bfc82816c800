#include "records/store/other_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "records/bytes/image_header.h"
#include "records/bytes/plain_text.h"
#include "records/files/unreadable_format.h"

namespace infeed {
namespace {

constexpr std::int64_t kDescribedBytes = std::int64_t{1} << 20;
constexpr std::size_t kTextBytes = 4096;

// A format by the bytes that its files begin with.
struct OtherFile {
  std::string_view start;
  std::string_view what;
};
constexpr std::array<OtherFile, 9> kOtherFiles = {
    {{"PAR1",
      "a Parquet file: `infeed convert FILE.parquet SHARDS` of the Python "
      "package makes shards of it"},
     {"ARROW1", "an Arrow file, not a file of records: save it as Parquet"},
     {"\x89HDF", "an HDF5 file, not a file of records: export its images"},
     {"\x93NUMPY", "a NumPy array, not a file of records: export its images"},
     {"\xFD"
      "7zXZ",
      "packed by xz: unpack it, or pack it as .tar.gz or .zip"},
     {"BZh", "packed by bzip2: unpack it, or pack it as .tar.gz or .zip"},
     {"\x28\xB5\x2F\xFD",
      "packed by zstd: unpack it, or pack it as .tar.gz or .zip"},
     {"7z\xBC\xAF", "packed by 7-Zip: unpack it, or pack it as .zip"},
     {"Rar!", "packed by RAR: unpack it, or pack it as .zip"}}};

}  // namespace

std::string DescribeOtherFile(const ByteSource& file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(
      std::min<std::int64_t>(kDescribedBytes, file.size())));
  bytes.resize(file.ReadAt(0, bytes));
  const std::string_view text = AsChars(bytes);
  if (const auto format = FindImageFormat(bytes); !format.empty()) {
    return "a " + std::string(format) +
           " image, not a file of records: give the folder that has a folder "
           "of images for each class, or make shards of a table of images by "
           "imagenet_to_records --manifest";
  }
  if (const auto format = FindUnreadableFormat(bytes); !format.empty()) {
    return "no file of records; " + UnreadableReason(format);
  }
  for (const OtherFile& other : kOtherFiles) {
    if (text.starts_with(other.start)) {
      return std::string(other.what);
    }
  }
  const bool is_text =
      std::ranges::none_of(text.substr(0, kTextBytes), [](unsigned char c) {
        return c < ' ' && c != '\n' && c != '\r' && c != '\t';
      });
  return is_text && !text.empty()
             ? "a text file, not a file of records: of a table of images "
               "imagenet_to_records --manifest makes shards"
             : "";
}

}  // namespace infeed
