#include "bench/decoder/jpeg_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "tools/cli/image_format.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;

bool HasJpegExtension(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kExtensions = {"jpg", "jpeg", "jpe",
                                                           "jfif"};
  return std::ranges::find(kExtensions,
                           LowerCase(Extension(path.filename().string()))) !=
         kExtensions.end();
}

void Add(const fs::path& path, JpegFiles& found) {
  const bool is_shard = IsShardName(path.filename().string());
  if (is_shard || HasJpegExtension(path)) {
    found.files.push_back({path.string(), is_shard});
  }
}

// Hidden folders hold side files.
void AddFolder(const std::string& folder, JpegFiles& found) {
  for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (at->is_directory()) {
      if (hidden) {
        at.disable_recursion_pending();
      }
    } else if (!hidden && at->is_regular_file()) {
      Add(at->path(), found);
    }
  }
}

void AddSpec(const std::string& spec, JpegFiles& found) {
  if (fs::is_directory(spec)) {
    AddFolder(spec, found);
  } else if (fs::is_regular_file(spec) && HasJpegExtension(spec)) {
    found.files.push_back({spec, false});
  } else {
    for (const std::string& shard : ListShards(spec)) {
      found.files.push_back({shard, true});
    }
  }
}

ImagenetExampleView Parsed(const Record& record, const std::string& path) {
  try {
    return ParseImagenetExample(record.payload);
  } catch (const DataError& error) {
    throw error.At({path, record.number, record.offset});
  }
}

}  // namespace

JpegFiles FindJpegFiles(const std::string& spec) {
  JpegFiles found;
  try {
    AddSpec(spec, found);
    for (const JpegFiles::File& file : found.files) {
      found.bytes += static_cast<std::int64_t>(fs::file_size(file.path));
    }
  } catch (const fs::filesystem_error& error) {
    throw IoError(error.path1().string(), "read", error.code().value());
  }
  if (found.files.empty()) {
    throw UsageError(spec + " holds no JPEG files and no shards");
  }
  std::ranges::sort(found.files, {}, &JpegFiles::File::path);
  return found;
}

std::optional<FoundJpeg> JpegSource::Next() {
  const std::lock_guard lock(mutex_);
  for (; next_file_ < files_.size(); ++next_file_) {
    const JpegFiles::File& file = files_[next_file_];
    if (!file.is_shard) {
      ++next_file_;
      return FoundJpeg{.name = file.path,
                       .number = next_number_++,
                       .bytes = ReadWholeFile(file.path, kMaxFileBytes)};
    }
    if (std::optional<FoundJpeg> found = NextRecord(file.path)) {
      return found;
    }
  }
  return std::nullopt;
}

// Returns the shard's next JPEG, or nullopt at its end.
std::optional<FoundJpeg> JpegSource::NextRecord(const std::string& path) {
  if (!shard_) {
    shard_ = std::make_unique<TfrecordReader>(path);
  }
  while (const std::optional<Record> record = shard_->Next()) {
    const ImagenetExampleView example = Parsed(*record, path);
    if (DetectImageFormat(example.encoded) == ImageFormat::kJpeg) {
      return FoundJpeg{
          .name = path + ": record " + std::to_string(record->number),
          .number = next_number_++,
          .bytes = std::string(AsChars(example.encoded))};
    }
  }
  shard_.reset();
  return std::nullopt;
}

}  // namespace infeed
