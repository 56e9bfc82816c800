#include "tools/convert/report.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/files/unreadable_format.h"
#include "tools/convert/conversion_text.h"
#include "tools/convert/finished_shard.h"
#include "tools/convert/image_encoder.h"
#include "tools/convert/shard_converter.h"

namespace infeed {
namespace {

void MoveTo(std::vector<ImageNote>& to, std::vector<ImageNote> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Notice MakeNotice(const LeftOut& left_out) {
  Notice notice = {.what = "",
                   .count = left_out.count,
                   .example = left_out.example,
                   .hint = ""};
  switch (left_out.kind) {
    case LeftOut::Kind::kUnreadable:
      notice.what = left_out.format + " files left out";
      notice.hint = UnreadableReason(left_out.format);
      return notice;
    case LeftOut::Kind::kOtherFiles:
      notice.what = "files left out whose names are not those of images";
      notice.hint = "a --manifest takes files of any name";
      return notice;
  }
  std::abort();
}

// Adds a notice of the notes, if there are any.
void AddNotice(std::vector<Notice>& notices,
               const std::vector<ImageNote>& notes, std::string what,
               std::string hint) {
  if (!notes.empty()) {
    notices.push_back({.what = std::move(what),
                       .count = std::ssize(notes),
                       .example = notes.front().path,
                       .hint = std::move(hint)});
  }
}

}  // namespace

std::vector<Notice> MakeNotices(const std::vector<LeftOut>& list) {
  std::vector<Notice> notices;
  notices.reserve(list.size());
  for (const LeftOut& left_out : list) {
    notices.push_back(MakeNotice(left_out));
  }
  return notices;
}

std::vector<Notice> MakeNotices(const ConversionReport& report) {
  std::vector<LeftOut> left_out = report.left_out;
  for (const ImageNote& note : report.skipped) {
    const std::string_view format = FindFormatInReason(note.reason);
    if (!format.empty()) {
      AddLeftOut(left_out, {.kind = LeftOut::Kind::kUnreadable,
                            .format = std::string(format),
                            .count = 1,
                            .example = note.path});
    }
  }
  std::vector<Notice> notices = MakeNotices(left_out);
  std::vector<ImageNote> lossy = report.reencoded;
  std::erase_if(lossy,
                [](const ImageNote& note) { return note.reason != kLossyPng; });
  AddNotice(notices, lossy, "PNG images that became lossy JPEGs",
            "--keep_png stores them as they are");
  AddNotice(notices, report.not_turned,
            "images stored without the rotation in their EXIF data",
            "--exif_rotate turns them");
  return notices;
}

std::string ReportPath(const std::string& output_dir, const TaskShare& share) {
  return ConversionSideFolder(output_dir) + "/" +
         (share.IsAll() ? "conversion_report.json"
                        : fmt::format("conversion_report-{:05}-of-{:05}.json",
                                      share.index, share.count));
}

ConversionReport MakeReport(const ConversionPlan& plan, const TaskShare& share,
                            std::vector<ShardResult> results) {
  ConversionReport report;
  report.share = share;
  report.duplicates = plan.duplicates;
  report.left_out = plan.left_out;
  report.info.seed = plan.seed;
  // Labels in tars count from 0 (record_maker.cc).
  report.info.first_label = plan.format == ShardFormat::kWebdataset ? 0 : 1;
  for (const ImageClass& image_class : plan.classes) {
    report.info.classes.push_back(image_class.name);
  }
  for (const PlannedSplit& split : plan.splits) {
    report.info.splits.push_back({split.name, 0, {}});
  }
  for (ShardResult& result : results) {
    DatasetInfo::Split& split = report.info.splits[result.task.split];
    split.records += result.shard.info.records;
    split.shards.push_back(std::move(result.shard.info));
    report.kept_shards += result.kept ? 1 : 0;
    MoveTo(report.reencoded, std::move(result.shard.reencoded));
    if (result.shard.seek_indexes) {
      report.seek_indexes =
          report.seek_indexes.value_or(0) + *result.shard.seek_indexes;
    }
    MoveTo(report.skipped, std::move(result.shard.skipped));
    MoveTo(report.not_turned, std::move(result.shard.not_turned));
  }
  return report;
}

void WriteReport(const std::string& output_dir,
                 const ConversionReport& report) {
  WriteFileAtomically(ReportPath(output_dir, report.share),
                      RenderJson(ConversionTable(report, output_dir)),
                      kInOwnFolder);
}

void WriteDescription(const std::string& output_dir,
                      const ConversionReport& report) {
  for (const DatasetInfo::Split& split : report.info.splits) {
    if (split.records == 0) {
      Check(!report.skipped.empty(), "a split has images");
      throw DataError(split.name + ": all its images are bad; the first: " +
                      report.skipped.front().path + ": " +
                      report.skipped.front().reason);
    }
  }
  std::string labels;
  for (const std::string& name : report.info.classes) {
    labels.append(name).append("\n");
  }
  WriteFileAtomically(output_dir + "/labels.txt", labels);
  WriteDatasetInfo(output_dir, report.info);
  RemoveUnfinished(output_dir);
}

}  // namespace infeed
