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

void CheckDirectory(const std::vector<ArchiveFile>& entries,
                    std::int64_t size) {
  std::set<std::string_view> names;
  std::int64_t end = 0;
  for (const ArchiveFile& entry : entries) {
    Check(entry.offset >= end, "no entry reaches into the next");
    Check(entry.extent > 0 && entry.bytes >= 0, "no size is negative");
    Check(names.insert(entry.name).second, "no name occurs twice");
    end = entry.offset + entry.extent;
  }
  Check(end < size, "no entry reaches into the directory");
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

void CheckImages(const std::vector<ArchiveFile>& files) {
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
  Check(images <= files.size(), "each image is a file");
  for (const ArchiveImages::Image& image : all.images) {
    Check(image.class_index >= -1 &&
              image.class_index < static_cast<std::int64_t>(all.classes.size()),
          "a class is one of the list");
  }
}

void CheckArchive(std::span<const std::byte> bytes) {
  const MemorySource source(
      "fuzz", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::vector<ArchiveFile> entries;
  try {
    entries = ReadZipDirectory(source);
  } catch (const DataError&) {
    return;
  }
  CheckDirectory(entries, source.size());
  CheckImages(entries);
  std::vector<std::byte> buffer;
  for (const ArchiveFile& entry : entries) {
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
