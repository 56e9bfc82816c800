#include "tools/shards/summary.h"

#include <memory>
#include <utility>

#include "records/bytes/byte_source.h"
#include "records/files/open_source.h"
#include "records/tfrecord/frame_scan.h"
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

}  // namespace

ShardSummary SummariseShard(const std::string& path) {
  std::unique_ptr<ByteSource> source = OpenSource(path);
  ShardSummary summary = {.records = 0,
                          .bytes = source->size(),
                          .format = DetectFormat(*source),
                          .compression = ReadCompression(*source),
                          .index = FindIndexState(*source)};
  if (summary.index == IndexState::kFresh ||
      summary.format != RecordFormat::kTfrecord) {
    summary.records =
        static_cast<std::int64_t>(FindRecords(*source, {}).offsets.size());
  } else if (summary.compression != Compression::kNone) {
    summary.records = CountByReading(std::move(source));
  } else {
    summary.records = static_cast<std::int64_t>(
        ScanFrames(*source, TfrecordReaderOptions().max_record_bytes).size());
  }
  return summary;
}

}  // namespace infeed
