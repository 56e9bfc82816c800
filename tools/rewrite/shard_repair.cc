#include "tools/rewrite/shard_repair.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/base_name.h"
#include "records/bytes/byte_sink.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tools/inspect/payload_check.h"
#include "tools/shards/set_info.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kChunkBytes = std::int64_t{1} << 18;
constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

// The list of bad places, a file beside the one with their bytes.
std::string BadPlacesJson(const std::string& path,
                          const std::vector<BadPlace>& bad) {
  const Json list = {{"file", path}, {"bad", bad}};
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The next readable bytes; none if the stream is damaged.
std::span<const std::byte> ReadSome(ByteStream& stream,
                                    std::span<std::byte> destination) {
  try {
    return destination.first(stream.Read(destination));
  } catch (const DataError&) {
    return {};
  }
}

// The bytes of a shard at the reader's offsets, decompressed if the shard is
// compressed, without parsing: to copy bytes that are not a good record.
//
// Owns the source. One thread at a time. Throws IoError.
class RawBytes {
 public:
  explicit RawBytes(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), stream_(OpenStream(*source_)) {}

  // Copies bytes from offset on and returns how many: fewer than requested if
  // the shard ends or cannot be decompressed further. Requires: offset is not
  // before the end of the last copy.
  std::int64_t Copy(std::int64_t offset, std::int64_t bytes, ByteSink& sink) {
    std::vector<std::byte> buffer(kChunkBytes);
    const bool packed = stream_->compression() != Compression::kNone;
    std::int64_t copied = 0;
    while (copied < bytes) {
      const bool skips = packed && offset_ < offset;
      const std::int64_t wanted =
          std::min(skips ? offset - offset_ : bytes - copied, kChunkBytes);
      const auto room =
          std::span(buffer).first(static_cast<std::size_t>(wanted));
      const std::span<const std::byte> got =
          packed ? ReadSome(*stream_, room)
                 : room.first(source_->ReadAt(offset + copied, room));
      if (got.empty()) {
        break;
      }
      offset_ += std::ssize(got);
      if (!skips) {
        sink.Write(got);
        copied += std::ssize(got);
      }
    }
    return copied;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ByteStream> stream_;
  std::int64_t offset_ = 0;  // of the stream
};

// One pass over a shard. One thread at a time.
class ShardRepair {
 public:
  ShardRepair(std::unique_ptr<ByteSource> reading,
              std::unique_ptr<ByteSource> copying, const RepairPaths& paths,
              const RepairOptions& options)
      : path_(reading->path()),
        paths_(paths),
        options_(options),
        check_(options.decode),
        known_(FindIndexHint(*reading)),
        reader_(std::move(reading), {.resynchronise = true}),
        raw_(std::move(copying)),
        writer_(paths.good,
                {.compression = paths.compression, .write_index = true}) {}

  ShardRepairReport Run(const std::function<void()>& on_record) {
    while (Step()) {
      on_record();
    }
    PutAsideTheRest();
    writer_.Close();
    if (bad_) {
      bad_->Commit();
      const std::unique_ptr<ByteSink> list = OpenSink(paths_.bad_list);
      list->Write(BadPlacesJson(path_, report_.bad));
      list->Commit();
    }
    report_.input = path_;
    report_.shard = DescribeShard(std::string(BaseName(paths_.good)), writer_);
    return std::move(report_);
  }

 private:
  // Processes a record or a gap; false at the end.
  bool Step() {
    try {
      const std::optional<Record> record = reader_.Next();
      if (record) {
        TakeRecord(*record);
      }
      return record.has_value();
    } catch (const DataError& error) {
      const Gap gap = reader_.gaps().back();
      TakeBad({.offset = gap.offset,
               .bytes = gap.bytes,
               .bad_file_offset = 0,
               .reason = error.reason(),
               .lost = Lost(gap.offset, gap.bytes)});
      return true;
    }
  }

  [[nodiscard]] std::optional<RecordRange> Lost(std::int64_t offset,
                                                std::int64_t bytes) const {
    return known_ ? LostRecords(*known_, offset, bytes) : std::nullopt;
  }

  void TakeRecord(const Record& record) {
    const auto bytes =
        static_cast<std::int64_t>(record.payload.size() + kFrameOverheadBytes);
    try {
      if (options_.parse_examples) {
        (void)check_.Check(record.payload);
      }
    } catch (const DataError& error) {
      TakeBad({.offset = record.offset,
               .bytes = bytes,
               .bad_file_offset = 0,
               .reason = error.reason(),
               .lost = RecordRange{record.number, 1}});
      return;
    }
    writer_.Append(record.payload);
    end_ = record.offset + bytes;
  }

  void TakeBad(BadPlace place) {
    if (!bad_) {
      bad_ = OpenSink(paths_.bad);
    }
    place.bad_file_offset = bad_->size();
    end_ = place.offset + raw_.Copy(place.offset, place.bytes, *bad_);
    place.bytes = end_ - place.offset;
    report_.bad.push_back(std::move(place));
  }

  // The reader may stop before the shard's end.
  void PutAsideTheRest() {
    if (!report_.bad.empty()) {
      BadPlace& last = report_.bad.back();
      if (last.offset + last.bytes == end_) {
        const std::int64_t more = raw_.Copy(end_, kToTheEnd, *bad_);
        last.bytes += more;
        last.lost = more > 0 ? Lost(last.offset, last.bytes) : last.lost;
      }
    }
  }

  const std::string path_;
  const RepairPaths& paths_;
  const RepairOptions& options_;
  PayloadCheck check_;
  const std::optional<FrameOffsets> known_;
  TfrecordReader reader_;
  RawBytes raw_;
  TfrecordWriter writer_;
  std::unique_ptr<ByteSink> bad_;  // null before the first bad place
  std::int64_t end_ = 0;           // end of the processed bytes
  ShardRepairReport report_;
};

}  // namespace

void to_json(Json& json, const BadPlace& place) {
  json = {{"offset", place.offset},
          {"bytes", place.bytes},
          {"bad_file_offset", place.bad_file_offset},
          {"reason", place.reason},
          {"first_record_lost", place.lost ? Json(place.lost->first) : Json()},
          {"records_lost", place.lost ? Json(place.lost->count) : Json()}};
}

std::int64_t ShardRepairReport::bad_bytes() const {
  std::int64_t bytes = 0;
  for (const BadPlace& place : bad) {
    bytes += place.bytes;
  }
  return bytes;
}

std::int64_t ShardRepairReport::lost_records() const {
  std::int64_t records = 0;
  for (const BadPlace& place : bad) {
    records += place.lost ? place.lost->count : 0;
  }
  return records;
}

ShardRepairReport RepairShard(std::unique_ptr<ByteSource> reading,
                              std::unique_ptr<ByteSource> copying,
                              const RepairPaths& paths,
                              const RepairOptions& options,
                              const std::function<void()>& on_record) {
  return ShardRepair(std::move(reading), std::move(copying), paths, options)
      .Run(on_record);
}

}  // namespace infeed
