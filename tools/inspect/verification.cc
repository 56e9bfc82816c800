#include "tools/inspect/verification.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/bytes/byte_size.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/reader.h"
#include "tools/cli/parallel_for.h"
#include "tools/inspect/payload_check.h"
#include "tools/shards/check.h"
#include "tools/shards/progress.h"

namespace infeed {
namespace {

bool IsRight(const JpegSeekIndex& index, std::span<const std::byte> jpeg) {
  std::optional<JpegSeekIndex> made = MakeSeekIndex(jpeg, index.run);
  if (!index.is_complete()) {
    if (!made) {
      return true;  // The JPEG may be irregular after the covered rows.
    }
    made->entries.resize(std::min(made->entries.size(), index.entries.size()));
  }
  return made == index;
}

// Checks the seek indexes of records, in their Examples and in the seek files
// beside the shards. A wrong index changes no pixels, it only fails to save
// time: its record is still good.
//
// The paths must outlive it. Thread-safe.
class SeekCheck {
 public:
  // remake: make each index again from its JPEG and compare; if false only its
  // seal is checked, which is nearly free.
  SeekCheck(const std::vector<std::string>& paths, bool remake)
      : paths_(paths), remake_(remake), shards_(paths.size()) {}

  // Opens the seek file of a shard of that size, if there is one. Requires: no
  // record of the shard was checked yet.
  void Open(std::size_t shard, std::int64_t shard_size) {
    shards_[shard].file = SeekFile::Find(paths_[shard], shard_size);
  }

  // Checks the index of a record, if it has one.
  void CheckRecord(std::size_t shard, const Record& record,
                   const ImagenetExampleView& example) {
    Shard& state = shards_[shard];
    std::span<const std::byte> sealed = example.seek_index;
    std::vector<std::byte> buffer;
    const bool is_beside = sealed.empty() && state.file &&
                           record.number < state.file->info().records;
    if (is_beside) {
      sealed = state.file->Read(
          record.number, LongestSeekIndex(std::ssize(record.payload)), buffer);
    }
    if (sealed.empty()) {
      return;
    }
    const std::string fault = Fault(sealed, example.encoded);
    if (!fault.empty()) {
      const std::string index =
          is_beside ? "the seek index in the file beside the shard "
                    : "the seek index ";
      const std::lock_guard lock(mutex_);
      state.findings.push_back({.record = {.record = record.number,
                                           .offset = record.offset,
                                           .reason = index + fault},
                                .is_beside = is_beside});
    }
  }

  // The records with a wrong index, in file order. records: the shard's number
  // of records. If records were lost, or the seek file has another number of
  // entries (those of one split of an archive), record numbers do not match the
  // seek file and no reader uses it: then only the indexes in Examples are
  // reported. Requires: all records were checked.
  [[nodiscard]] std::vector<DamagedRecord> Take(std::size_t shard,
                                                std::int64_t records,
                                                bool records_are_lost) {
    std::vector<DamagedRecord> bad;
    {
      const std::lock_guard lock(mutex_);
      Shard& state = shards_[shard];
      const bool uses_file = !records_are_lost && state.file != nullptr &&
                             state.file->info().records == records;
      for (Finding& finding : state.findings) {
        if (uses_file || !finding.is_beside) {
          bad.push_back(std::move(finding.record));
        }
      }
    }
    std::ranges::sort(bad);
    return bad;
  }

 private:
  struct Finding {
    DamagedRecord record;
    bool is_beside = false;  // the index is from the seek file
  };
  struct Shard {
    std::unique_ptr<const SeekFile> file;
    std::vector<Finding> findings;
  };
  // Returns the fault of an index; "": none.
  [[nodiscard]] std::string Fault(std::span<const std::byte> sealed,
                                  std::span<const std::byte> jpeg) const {
    const OpenedSeekIndex opened = OpenSeekIndex(sealed, jpeg);
    if (opened.seal != SeekSeal::kGood) {
      return std::string(SeekSealText(opened.seal));
    }
    JpegSeekIndex index;
    if (!ParseSeekIndex(opened.body, index)) {
      return "cannot be read";
    }
    return remake_ && !IsRight(index, jpeg) ? "is not what the JPEG's scan says"
                                            : "";
  }

  const std::vector<std::string>& paths_;
  const bool remake_;
  std::mutex mutex_;
  std::vector<Shard> shards_;  // mutex_ guards the findings
};

struct VerifyTotals {
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t passed_over_bytes = 0;
  std::int64_t lost_records = 0;  // as far as an index tells
  std::int64_t wrong_seek_indexes = 0;
  std::int64_t problems = 0;  // including missing shards and differences
};

VerifyTotals SumUp(const VerifyReport& report) {
  VerifyTotals totals;
  totals.problems =
      static_cast<std::int64_t>(report.missing.size() + report.problems.size());
  for (const VerifiedShard& shard : report.shards) {
    totals.records += shard.records;
    totals.wrong_seek_indexes += std::ssize(shard.seek);
    totals.bad += std::ssize(shard.bad);
    totals.problems += std::ssize(shard.differences);
    for (const LostBytes& lost : shard.lost) {
      totals.passed_over_bytes += lost.gap.bytes;
      totals.lost_records += lost.records ? lost.records->count : 0;
    }
  }
  return totals;
}

// The reader's error already contains the number of skipped bytes.
std::string LostText(const LostBytes& lost) {
  const RecordRange& records = *lost.records;
  return fmt::format(
      "bytes {}..{} were {}, by the index from before the damage",
      lost.gap.offset, lost.gap.offset + lost.gap.bytes - 1,
      records.count == 1 ? fmt::format("record {}", records.first)
                         : fmt::format("records {}..{}", records.first,
                                       records.first + records.count - 1));
}

ReportRow LostRow(const std::string& path, const std::vector<LostBytes>& lost) {
  std::vector<ReportTable> rows;
  for (const LostBytes& bytes : lost) {
    ReportTable& row = rows.emplace_back();
    row = {{"offset", bytes.gap.offset}, {"bytes", bytes.gap.bytes}};
    if (bytes.records) {
      row.push_back({"first_record", bytes.records->first});
      row.push_back({"records", bytes.records->count,
                     fmt::format("{}: {}\n", path, LostText(bytes))});
    }
  }
  return ListRow("passed_over", rows);
}

// A list of sentences, each a line of the text.
ReportRow LinesRow(const std::string& key,
                   const std::vector<std::string>& sentences,
                   std::string_view before = "", std::string_view after = "") {
  ReportRow row = {.key = key, .value = sentences};
  for (const std::string& sentence : sentences) {
    row.text += fmt::format("{}{}{}\n", before, ShownText(sentence), after);
  }
  return row;
}

ReportTable ShardReport(const VerifiedShard& shard) {
  const std::string path = PathForMessages(shard.path);
  const std::string shown = ShownText(path);
  return {{"file", path},
          {"records", shard.records},
          {"bytes", shard.bytes},
          {"compression", CompressionName(shard.compression)},
          BadRecordsRow("bad", shard.path, shard.bad),
          BadRecordsRow("wrong_seek_indexes", shard.path, shard.seek),
          LostRow(shown, shard.lost),
          LinesRow("differences", shard.differences, shown + ": "),
          LinesRow("notes", shard.notes)};
}

std::string WrongSeekText(const VerifyTotals& totals) {
  return CountText(totals.wrong_seek_indexes, "wrong seek index",
                   "wrong seek indexes");
}

std::string ProblemsText(const VerifyTotals& totals) {
  return CountText(totals.problems, "problem of the set",
                   "problems of the set");
}

// ", TEXT" if there are any.
std::string IfAny(std::int64_t count, const std::string& text) {
  return count > 0 ? ", " + text : "";
}

// One pass over the shards, and its findings.
class VerifyPass {
 public:
  VerifyPass(const std::vector<std::string>& shards,
             const VerifyOptions& options,
             const std::function<void(const VerifiedShard&)>& finished)
      : paths_(shards),
        options_(options),
        finished_(finished),
        expected_(options.dataset_json ? ExpectedShards(shards)
                                       : ExpectedShards()),
        progress_(shards),
        seek_check_(shards, options.decode),
        sources_(shards.size()) {
    report_.problems = expected_.problems();
    AddFaults();
    for (const std::string& path : shards) {
      report_.shards.emplace_back().path = path;
    }
  }

  VerifyReport Run() {
    std::vector<PayloadCheck> checks;  // of each thread
    for (std::size_t i = 0; i < ThreadCount(options_.threads); ++i) {
      checks.emplace_back(options_.decode,
                          ExampleKeys{.image = options_.keys.image});
    }
    RecordPassOptions options = progress_.Options();
    options.image_key = options_.keys.image;
    options.open = [this](std::size_t shard) { return Open(shard); };
    options.read = [this](std::size_t shard, const RecordCursor& reader) {
      NoteFile(shard, reader);
    };
    PassOverRecords(
        paths_, checks.size(),
        [&](std::size_t thread, std::size_t shard, const Record& record) {
          CheckRecord(shard, record, checks[thread]);
        },
        options, [this](ShardPass pass) { Finish(std::move(pass)); });
    return std::move(report_);
  }

 private:
  void AddFaults() {
    ShardSetFaults faults =
        FaultsAround(paths_, options_.named, options_.dataset_json);
    if (options_.dataset_json) {
      faults.Add(options_.faults);
    }
    report_.problems.insert(report_.problems.end(), faults.mixed.begin(),
                            faults.mixed.end());
    if (!options_.allow_missing_shards) {
      for (const auto& [shards, count] : faults.missing) {
        report_.missing.push_back(PathForMessages(shards));
      }
    }
  }

  std::unique_ptr<ByteSource> Open(std::size_t shard) {
    std::unique_ptr<TrackedSource> source = progress_.Open(shard);
    sources_[shard] = source.get();
    seek_check_.Open(shard, source->size());
    return source;
  }

  void CheckRecord(std::size_t shard, const Record& record,
                   PayloadCheck& check) {
    if (!options_.parse_examples) {
      return;
    }
    const ImagenetExampleView example = check.Check(record.payload);
    if (!example.encoded.empty()) {
      seek_check_.CheckRecord(shard, record, example);
    }
  }

  // Notes facts about the file while it is open.
  void NoteFile(std::size_t shard, const RecordCursor& reader) {
    const TrackedSource& source = *sources_[shard];
    VerifiedShard& verified = report_.shards[shard];
    verified.bytes = source.size();
    verified.compression = reader.compression();
    verified.notes = reader.notes();
    if (!reader.gaps().empty()) {
      const std::optional<FrameOffsets> known = FindIndexHint(source);
      for (const Gap& gap : reader.gaps()) {
        verified.lost.push_back(
            {.gap = gap,
             .records = known ? LostRecords(*known, gap.offset, gap.bytes)
                              : std::nullopt});
      }
    }
    if (expected_.Find(verified.path)) {
      verified.crc32c = source.Checksum();
    }
  }

  void Finish(ShardPass pass) {
    VerifiedShard& verified = report_.shards[pass.shard];
    verified.records = pass.records;
    verified.bad = std::move(pass.bad);
    verified.seek =
        seek_check_.Take(pass.shard, pass.records, !verified.lost.empty());
    if (const auto expected = expected_.Find(verified.path)) {
      verified.differences = Differences(*expected, verified.records,
                                         verified.bytes, verified.crc32c);
    }
    verified.report = ShardReport(verified);
    finished_(verified);
  }

  const std::vector<std::string>& paths_;
  const VerifyOptions& options_;
  const std::function<void(const VerifiedShard&)>& finished_;
  const ExpectedShards expected_;
  ShardProgress progress_;
  SeekCheck seek_check_;
  std::vector<const TrackedSource*> sources_;  // valid during the pass
  VerifyReport report_;
};

}  // namespace

VerifyReport VerifyShards(
    const std::vector<std::string>& shards, const VerifyOptions& options,
    const std::function<void(const VerifiedShard&)>& finished) {
  return VerifyPass(shards, options, finished).Run();
}

ReportTable SetReport(const VerifyReport& report) {
  const VerifyTotals totals = SumUp(report);
  std::vector<ReportTable> shards;
  for (const VerifiedShard& shard : report.shards) {
    shards.push_back(shard.report);
  }
  return {LinesRow("missing", report.missing, "", ": missing"),
          LinesRow("problems", report.problems),
          {"good", FaultsText(report).empty()},
          {"records", totals.records,
           fmt::format("{} in {}", CountText(totals.records, "record"),
                       CountText(shards.size(), "shard"))},
          {"bad", totals.bad, fmt::format(", {} bad", totals.bad)},
          {"wrong_seek_indexes", totals.wrong_seek_indexes,
           IfAny(totals.wrong_seek_indexes, WrongSeekText(totals))},
          {"passed_over_bytes", totals.passed_over_bytes,
           IfAny(totals.passed_over_bytes,
                 FileSizeText(totals.passed_over_bytes) + " skipped")},
          {"lost_records", totals.lost_records,
           IfAny(totals.lost_records,
                 CountText(totals.lost_records, "record") + " lost")},
          {"", {}, IfAny(totals.problems, ProblemsText(totals)) + "\n"},
          {"shards", ListRow("", shards).value}};
}

std::string FaultsText(const VerifyReport& report) {
  const VerifyTotals totals = SumUp(report);
  const std::string text =
      IfAny(totals.bad, CountText(totals.bad, "bad record")) +
      IfAny(totals.wrong_seek_indexes, WrongSeekText(totals)) +
      IfAny(totals.problems, ProblemsText(totals));
  return text.empty() ? "" : text.substr(2);
}

ReportRow BadRecordsRow(const std::string& key, const std::string& path,
                        const std::vector<DamagedRecord>& bad) {
  const std::string shown = PathForMessages(path);
  std::vector<ReportTable> rows;
  for (const DamagedRecord& record : bad) {
    const DataError error({shown, record.record, record.offset}, record.reason);
    rows.push_back({{"record", record.record},
                    {"offset", record.offset},
                    {"reason", record.reason, ShownText(error.what()) + "\n"}});
  }
  return ListRow(key, rows);
}

}  // namespace infeed
