#include "tools/inspect/listing.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/byte_source.h"
#include "records/files/open_source.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/cli/parallel_for.h"
#include "tools/shards/check.h"

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

std::string Compare(const ExpectedShards& expected, const std::string& path,
                    const ShardSummary& summary) {
  const std::optional<DatasetInfo::Shard> shard = expected.Find(path);
  if (!shard) {
    return "-";
  }
  return shard->records == summary.records && shard->bytes == summary.bytes
             ? "same"
             : "differs";
}

ListedShard ListShard(const std::string& path, const ExpectedShards& expected) {
  ListedShard listed = {.path = path, .summary = {}, .error = ""};
  try {
    listed.summary = SummariseShard(path);
    listed.described = Compare(expected, path, *listed.summary);
  } catch (const DataError& error) {
    listed.error = error.what();
  }
  return listed;
}

ReportTable LineOf(const ListedShard& shard) {
  const std::string file = PathForMessages(shard.path);
  if (!shard.summary) {
    return {{"", {}, shard.is_missing ? "missing" : "damaged"},
            {},
            {},
            {},
            {},
            {"file", file, file},
            {"error", shard.error}};
  }
  const ShardSummary& summary = *shard.summary;
  const std::string compression(CompressionName(summary.compression));
  const std::string index(ChoiceName(summary.index, kIndexStates));
  return {{"records", summary.records, std::to_string(summary.records)},
          {"bytes", summary.bytes, FileSizeText(summary.bytes)},
          {"compression", compression, compression},
          {"index", index, index},
          {"dataset_json", shard.described, shard.described},
          {"file", file, file}};
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

ShardListing ListShardFiles(const std::vector<std::string>& paths,
                            const ShardSetFaults& faults, int threads) {
  const ExpectedShards expected(paths);
  ShardListing listing = {.shards = std::vector<ListedShard>(paths.size()),
                          .problems = expected.problems()};
  ParallelFor(paths.size(), threads, [&](std::size_t i) {
    listing.shards[i] = ListShard(paths[i], expected);
  });
  for (const auto& [path, records] : faults.missing) {
    listing.shards.push_back({.path = path,
                              .summary = {},
                              .error = PathForMessages(path) + ": missing",
                              .is_missing = true});
  }
  std::ranges::sort(listing.shards, {}, &ListedShard::path);
  listing.problems.insert(listing.problems.end(), faults.mixed.begin(),
                          faults.mixed.end());
  for (const ListedShard& shard : listing.shards) {
    if (!shard.summary) {
      listing.problems.push_back(shard.error);
    }
  }
  return listing;
}

ReportTable ListingReport(const ShardListing& listing) {
  std::vector<ReportTable> lines;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  for (const ListedShard& shard : listing.shards) {
    lines.push_back(LineOf(shard));
    records += shard.summary ? shard.summary->records : 0;
    bytes += shard.summary ? shard.summary->bytes : 0;
  }
  return {TableRow("shards",
                   {">records", ">bytes", "packed", "index", "dataset.json",
                    "shard"},
                   lines,
                   {std::to_string(records), FileSizeText(bytes), "", "", "",
                    "total of " + CountText(lines.size(), "shard")}),
          {"records", records},
          {"bytes", bytes}};
}

std::vector<CountedShard> CountShards(const std::vector<std::string>& paths,
                                      int threads) {
  std::vector<CountedShard> shards(paths.size());
  ParallelFor(paths.size(), threads, [&](std::size_t i) {
    shards[i] = {paths[i], SummariseShard(paths[i]).records};
  });
  return shards;
}

ReportTable CountReport(const std::vector<CountedShard>& shards) {
  std::vector<ReportTable> lines;
  std::int64_t total = 0;
  for (const auto& [path, records] : shards) {
    const std::string file = PathForMessages(path);
    lines.push_back({{"file", file, ShownText(file)},
                     {"records", records, fmt::format(" {}\n", records)}});
    total += records;
  }
  return {ListRow("shards", lines),
          {"total", total, fmt::format("total {}\n", total)}};
}

}  // namespace infeed
