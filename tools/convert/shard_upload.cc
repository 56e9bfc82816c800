#include "tools/convert/shard_upload.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/store/file_records.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/convert/finished_shard.h"

namespace infeed {
namespace {

constexpr std::size_t kStepBytes = std::size_t{4} << 20;

// Copies a file; returns the checksum of its bytes. The object appears at
// Commit().
std::uint32_t Copy(const ByteSource& file, ByteSink& object) {
  std::vector<std::byte> buffer(kStepBytes);
  std::uint32_t crc = 0;
  std::int64_t offset = 0;
  while (const std::size_t got = file.ReadAt(offset, buffer)) {
    const std::span<const std::byte> bytes = std::span(buffer).first(got);
    crc = ExtendCrc32c(crc, bytes);
    object.Write(bytes);
    offset += static_cast<std::int64_t>(got);
  }
  return crc;
}

// Whether an object exists with that size. False if the store cannot be asked:
// the upload then reports the error.
bool IsThere(const std::string& url, std::int64_t bytes) {
  try {
    return OpenSource(url)->size() == bytes;
  } catch (const IoError&) {
    return false;
  }
}

// Uploads the object's own index, which holds its ETag, known only after the
// upload.
void UploadIndex(const FileSource& file, const std::string& url) {
  std::optional<FrameOffsets> offsets = FindIndex(file);
  if (!offsets) {
    offsets = ScanFrames(file, TfrecordReaderOptions().max_record_bytes);
  }
  PublishIndex(*OpenSource(url), *offsets);
}

// Uploads a shard unless its object exists; returns whether it uploaded it.
bool UploadShard(const std::string& output_dir, const std::string& name,
                 const std::string& url) {
  std::optional<FinishedShard> shard = ReadFinishedShard(output_dir, name);
  if (!shard) {
    throw IoError(FinishedShardPath(output_dir, name) +
                  ": is gone: run the conversion again");
  }
  if (shard->uploaded == url && IsThere(url, shard->info.bytes)) {
    return false;
  }
  const FileSource file(output_dir + "/" + name);
  const std::unique_ptr<ByteSink> object = OpenSink(url);
  const std::string crc = fmt::format("{:08x}", Copy(file, *object));
  if (crc != shard->info.crc32c) {
    throw DataError({.path = file.path()},
                    "its checksum is " + crc + ", not " + shard->info.crc32c +
                        " as it was written: run the conversion again with "
                        "--verify_resume");
  }
  object->Commit();
  if (DetectFormat(file) == RecordFormat::kTfrecord) {
    UploadIndex(file, url);
  }
  shard->uploaded = url;
  WriteFinishedShard(output_dir, *shard);
  return true;
}

void UploadFile(const std::string& path, const std::string& url) {
  const std::unique_ptr<ByteSink> object = OpenSink(url);
  static_cast<void>(Copy(FileSource(path), *object));
  object->Commit();
}

}  // namespace

std::string UploadTarget::ObjectOf(std::string_view name) const {
  std::string object = url;
  if (!object.ends_with('/')) {
    object.push_back('/');
  }
  return object.append(BaseName(name));
}

UploadResult Upload(const ConversionReport& report,
                    const std::string& output_dir, const UploadTarget& target,
                    const std::function<void(std::int64_t)>& on_shard) {
  std::vector<std::string> names;
  for (const DatasetInfo::Split& split : report.info.splits) {
    for (const DatasetInfo::Shard& shard : split.shards) {
      names.push_back(shard.name);
    }
  }
  std::sort(names.begin(), names.end());
  UploadResult result;
  for (const std::string& name : names) {
    const bool uploaded = UploadShard(output_dir, name, target.ObjectOf(name));
    ++(uploaded ? result.uploaded : result.skipped);
    on_shard(result.uploaded + result.skipped);
  }
  if (report.share.IsAll()) {
    for (const char* name : {"labels.txt", "dataset.json"}) {
      UploadFile(output_dir + "/" + name, target.ObjectOf(name));
    }
  }
  return result;
}

}  // namespace infeed
