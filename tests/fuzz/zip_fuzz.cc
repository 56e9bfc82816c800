#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/archives/archive_images.h"
#include "records/archives/zip_directory.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/byte_source.h"

// Any bytes are a zip archive, of entries that lie in it one after the other,
// or a DataError; and any bytes are an entry, read within a limit, or a
// DataError.
namespace infeed {
namespace {

constexpr std::int64_t kMaxBytes = 1 << 20;

void CheckDirectory(const ZipDirectory& directory, std::int64_t size) {
  Check(directory.begin >= 0 && directory.begin <= size,
        "the directory is in the file");
  std::set<std::string_view> names;
  std::int64_t end = 0;
  for (const ZipEntry& entry : directory.entries) {
    Check(entry.offset >= end, "no entry reaches into the next");
    Check(entry.packed_bytes >= 0 && entry.packed_bytes < entry.extent &&
              entry.bytes >= 0,
          "no size is negative or too large");
    Check(names.insert(entry.name).second, "no name occurs twice");
    end = entry.offset + entry.extent;
  }
  Check(end <= directory.begin, "no entry reaches into the directory");
}

// An extent in a block of its own, so that reads beyond it are found.
void CheckEntry(std::vector<std::byte> extent, std::vector<std::byte>& buffer) {
  try {
    const ZipFile file = ReadZipEntry(extent, kMaxBytes, buffer);
    Check(file.bytes.size() <= kMaxBytes, "the limit holds");
    const std::vector<std::byte> once(file.bytes.begin(), file.bytes.end());
    std::vector<std::byte> other;
    const ZipFile again = ReadZipEntry(extent, kMaxBytes, other);
    Check(std::vector(again.bytes.begin(), again.bytes.end()) == once,
          "the buffer changes nothing");
  } catch (const DataError&) {
  }
  Check(buffer.size() <= kMaxBytes, "the limit holds for the buffer");
}

void CheckImages(const ZipDirectory& directory) {
  std::vector<ArchiveFile> files;
  for (const ZipEntry& entry : directory.entries) {
    files.push_back({.name = entry.name,
                     .offset = entry.offset,
                     .extent = entry.extent,
                     .bytes = entry.bytes,
                     .is_readable = !entry.is_link});
  }
  ArchiveImages all;
  try {
    all = FindArchiveImages("fuzz.zip", files,
                            [](const ArchiveFile&) { return std::string(); });
  } catch (const Error&) {  // Images without classes.
    return;
  }
  std::size_t images = 0;
  for (const std::string split : {"train", "validation", "test"}) {
    ArchiveImages found = all;
    KeepSplit(split, found);
    images += found.images.size();
  }
  Check(images == all.images.size(), "each image is in one split");
  Check(images <= directory.entries.size(), "each image is a file");
  for (const ArchiveImages::Image& image : all.images) {
    Check(image.class_index >= -1 &&
              image.class_index < static_cast<std::int64_t>(all.classes.size()),
          "a class is one of the list");
  }
}

void CheckArchive(std::span<const std::byte> bytes) {
  const MemorySource source(
      "fuzz", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ZipDirectory directory;
  try {
    directory = ReadZipDirectory(source);
  } catch (const DataError&) {
    return;
  }
  CheckDirectory(directory, source.size());
  CheckImages(directory);
  std::vector<std::byte> buffer;
  for (const ZipEntry& entry : directory.entries) {
    const auto extent = bytes.subspan(static_cast<std::size_t>(entry.offset),
                                      static_cast<std::size_t>(entry.extent));
    CheckEntry({extent.begin(), extent.end()}, buffer);
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  infeed::CheckArchive(bytes);
  // Most changes of an archive are found before its entries are read.
  std::vector<std::byte> buffer;
  infeed::CheckEntry({bytes.begin(), bytes.end()}, buffer);
  return 0;
}
