#include "tools/shards/summary.h"

#include <memory>
#include <optional>
#include <utility>

#include "records/archives/tar_index_file.h"
#include "records/bytes/byte_source.h"
#include "records/files/open_source.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"

namespace infeed {
namespace {

std::int64_t CountByReading(std::unique_ptr<ByteSource> source) {
  TfrecordReader reader(std::move(source), {.verify_checksums = false});
  std::int64_t records = 0;
  while (reader.Next()) {
    ++records;
  }
  return records;
}

ShardSummary SummariseArchive(const ByteSource& archive, RecordFormat format) {
  const bool is_indexed =
      format == RecordFormat::kZip || FindTarIndex(archive).has_value();
  const FileRecords records = FindRecords(archive, {});
  return {.records = static_cast<std::int64_t>(records.offsets.size()),
          .bytes = archive.size(),
          .format = format,
          .compression = records.compression,
          .index = is_indexed ? IndexState::kFresh : IndexState::kNone};
}

}  // namespace

ShardSummary SummariseShard(const std::string& path) {
  std::unique_ptr<ByteSource> source = OpenSource(path);
  const RecordFormat format = DetectFormat(*source);
  if (format != RecordFormat::kTfrecord) {
    return SummariseArchive(*source, format);
  }
  ShardSummary summary = {.records = 0,
                          .bytes = source->size(),
                          .compression = ReadCompression(*source),
                          .index = IndexState::kNone};
  if (summary.compression != Compression::kNone) {
    if (const std::optional<ShardFrames> frames = FindFrames(*source)) {
      summary.records = static_cast<std::int64_t>(frames->offsets.size());
      summary.index = IndexState::kFresh;
      return summary;
    }
    summary.records = CountByReading(std::move(source));
    return summary;
  }
  std::optional<FrameOffsets> offsets = FindIndex(*source);
  if (offsets) {
    summary.index = IndexState::kFresh;
  } else {
    summary.index =
        FindIndexHint(*source) ? IndexState::kStale : IndexState::kNone;
    offsets = ScanFrames(*source, TfrecordReaderOptions().max_record_bytes);
  }
  summary.records = static_cast<std::int64_t>(offsets->size());
  return summary;
}

}  // namespace infeed
