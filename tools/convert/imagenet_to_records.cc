#include "tools/convert/imagenet_to_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/files/folder_claim.h"
#include "records/files/output_check.h"
#include "records/files/side_file.h"
#include "records/store/image_tree.h"
#include "tools/cli/cloud_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/signals.h"
#include "tools/convert/conversion_text.h"
#include "tools/convert/converter.h"
#include "tools/convert/converter_options.h"
#include "tools/convert/finished_shard.h"
#include "tools/convert/output_flags.h"
#include "tools/convert/plan.h"
#include "tools/convert/shard_upload.h"
#include "tools/images/duplicates.h"
#include "tools/images/raw_input_flags.h"
#include "tools/images/source.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

constexpr std::size_t kNotesShown = 10;

constexpr const char* kExamples =
    "Examples:\n"
    "  imagenet_to_records --raw_data_dir photos --local_scratch_dir records "
    "\\\n"
    "      --split 0.9/0.1\n"
    "      photos/<class>/*, nine tenths of each class for training\n"
    "  imagenet_to_records --raw_data_dir raw --local_scratch_dir records\n"
    "      raw/{train,validation,test}/<class>/*, or ImageNet as it comes:\n"
    "      raw/train/<synset>/*, raw/validation/*, raw/synset_labels.txt\n"
    "  imagenet_to_records --raw_data_dir 'tars/{000..099}.tar' \\\n"
    "      --local_scratch_dir records\n"
    "      tars of samples; also zips of images, TFRecords, s3:// and gs://\n"
    "  imagenet_to_records --manifest photos.csv --local_scratch_dir records\n"
    "      a table with the columns path and label, and split and text if any\n"
    "  imagenet_to_records --coco annotations/instances_train2017.json \\\n"
    "      --raw_data_dir coco --local_scratch_dir records\n"
    "      images with boxes; also --voc and --yolo\n"
    "  imagenet_to_records --raw_data_dir raw --local_scratch_dir records \\\n"
    "      --num_tasks 8 --task_index 3\n"
    "      one of eight machines' share of the shards; in the end: --finish\n"
    "\n"
    "The same command again continues an interrupted conversion. Images are "
    "recognized by extension: jpg, png, webp, bmp, tif, jp2, ppm. JPEGs are "
    "stored byte for byte; the rest, and CMYK, become RGB JPEGs.\n"
    "\n"
    "Exit codes: 0 done, 1 a file could not be read or written, 2 a flag or "
    "folder is wrong, 3 an image is bad, 75 stopped by a signal.\n";

struct Flags {
  RawInputFlags input;
  OutputFlags output;
  CloudFlags cloud;
};

// Reads the input. Records are read once before the conversion begins.
ImageTree ReadInput(const Flags& flags, const Interruption& interruption) {
  RawInputFlags input = flags.input;
  input.threads = flags.output.converter.threads;
  ProgressLine line;
  bool is_shown = false;
  input.on_records = [&](std::int64_t records) {
    interruption.Check();
    is_shown = true;
    line.Update(fmt::format("{} records listed", records), false);
  };
  ImageTree tree = ReadRawInput(input);
  if (is_shown) {
    line.Finish();
  }
  return tree;
}

// Boxes in pixels fit the image as it is, and are stored in TFRecords.
void RefuseOtherImages(const Flags& flags) {
  const OutputFlags& output = flags.output;
  if (!flags.input.are_annotated()) {
    return;
  }
  if (output.plan.format != ShardFormat::kTfrecord ||
      output.converter.image.format != ImageForm::kJpeg) {
    throw UsageError(
        "--coco, --voc and --yolo write --format tfrecord, no other");
  }
  if (output.converter.image.max_size > 0 && !flags.input.yolo) {
    throw UsageError(
        "--max_size: the boxes of --coco and --voc are those of the images as "
        "they are");
  }
}

ConversionPlan MakePlan(const Flags& flags, const Interruption& interruption) {
  PlanOptions options = CheckedPlanOptions(flags.output);
  RefuseOtherImages(flags);
  ImageTree tree = ReadInput(flags, interruption);
  options.source = SourceText(flags.input);
  if (!flags.input.source.empty()) {
    options.passing_folder = flags.input.folders().front();
  }
  std::cerr << FirstLines(tree.notes, kNotesShown);
  if (flags.input.report_duplicates) {
    std::cout << DuplicatesText(tree.duplicates);
  }
  return PlanConversion(std::move(tree), options);
}

// The folders of files that lie in one of these, RAW/train and RAW/train/cat:
// shards there would hide the images from a later reader of RAW.
std::set<std::string> FoldersWithin(const std::vector<std::string>& raw,
                                    const std::vector<std::string>& files) {
  const auto is_within = [&](const std::string& folder) {
    return std::ranges::any_of(raw, [&](const std::string& one) {
      return folder.starts_with(JoinPath(one, ""));
    });
  };
  std::set<std::string> folders;
  for (const std::string& file : files) {
    std::string folder = ParentFolder(file);
    while (is_within(folder) && folders.insert(folder).second) {
      folder = ParentFolder(folder);
    }
  }
  return folders;
}

// An input that lies in the output folder would be replaced or removed while it
// is read, and a second run would read the outputs instead.
void RefuseInputsInOutput(const Flags& flags, const ConversionPlan& plan) {
  const std::string& output_dir = flags.output.output_dir;
  std::vector<std::string> folders = {output_dir,
                                      ConversionSideFolder(output_dir)};
  std::vector<NamedOutput> outputs;
  for (const std::string& path : OutputPaths(plan, output_dir)) {
    folders.push_back(ParentFolder(path));
    outputs.push_back({"--local_scratch_dir", path});
  }
  const std::vector<std::string> raw = flags.input.folders();
  std::vector<std::string> inputs = raw;
  for (const std::vector<std::string>* files :
       {&flags.input.manifests, &flags.input.coco}) {
    inputs.insert(inputs.end(), files->begin(), files->end());
  }
  for (const PlannedSplit& split : plan.splits) {
    std::ranges::move(FilesOf(split.images), std::back_inserter(inputs));
  }
  if (flags.input.manifests.empty()) {  // Else a table finds the images.
    std::ranges::copy(FoldersWithin(raw, inputs), std::back_inserter(inputs));
  }
  RefuseInputsIn(folders, "--local_scratch_dir", inputs);
  CheckOutputs(outputs, inputs);  // compares files, not names: hard links
}

ConversionReport ConvertWithProgress(const ConversionPlan& plan,
                                     const std::string& output_dir,
                                     const ConverterOptions& options,
                                     const Interruption& interruption) {
  ProgressLine line;
  ConversionReport report = Convert(
      plan, output_dir, options, [&](const ConversionProgress& progress) {
        interruption.Check();
        line.Update(ConversionProgressText(progress, line.seconds()),
                    progress.done == progress.total);
      });
  line.Finish();
  return report;
}

// Shows the progress of a step over shards: "3/8 shards".
class ShardsLine {
 public:
  ShardsLine(const char* what, std::int64_t total)
      : what_(what), total_(total) {}

  void Update(std::int64_t done) {
    line_.Update(ShardsProgressText(what_, done, total_, line_.seconds()),
                 done == total_);
  }
  void Finish() { line_.Finish(); }

 private:
  const char* what_;
  std::int64_t total_;
  ProgressLine line_;
};

ConversionReport FinishWithProgress(const ConversionPlan& plan,
                                    const std::string& output_dir,
                                    const ConverterOptions& options,
                                    const Interruption& interruption) {
  ShardsLine line("checked", plan.shards());
  ConversionReport report =
      FinishConversion(plan, output_dir, options, [&](std::int64_t done) {
        interruption.Check();
        line.Update(done);
      });
  line.Finish();
  return report;
}

void UploadWithProgress(const ConversionReport& report,
                        const std::string& output_dir,
                        const UploadTarget& target,
                        const Interruption& interruption) {
  std::int64_t shards = 0;
  for (const DatasetInfo::Split& split : report.info.splits) {
    shards += std::ssize(split.shards);
  }
  ShardsLine line("uploaded", shards);
  const UploadResult result =
      Upload(report, output_dir, target, [&](std::int64_t done) {
        interruption.Check();
        line.Update(done);
      });
  line.Finish();
  std::cout << UploadText(result, target);
}

ExitCode Run(const Flags& flags, const Interruption& interruption) {
  ApplyCloudFlags(flags.cloud);
  const ConverterOptions options = CheckedConverterOptions(flags.output);
  const UploadTarget target = CheckedUploadTarget(flags.output);
  const std::string& output_dir = flags.output.output_dir;
  std::optional<WithoutSideFiles> nothing_is_written;
  if (flags.output.dry_run) {
    nothing_is_written.emplace();
  }
  const ConversionPlan plan = MakePlan(flags, interruption);
  RefuseInputsInOutput(flags, plan);
  if (flags.output.dry_run) {
    std::cerr << NoticesRow(MakeNotices(plan.left_out)).text;
    std::cout << PlanText(plan, output_dir, options, target);
    return ExitCode::kDone;
  }
  // Locks the folder against other conversions, except the other tasks of this
  // one.
  const TaskShare& share = options.share;
  const std::string side_folder = ConversionSideFolder(output_dir);
  const FolderClaim all(
      side_folder, "lock",
      share.IsAll() ? FolderClaim::Kind::kAlone : FolderClaim::Kind::kShared,
      kInOwnFolder);
  const FolderClaim own(side_folder,
                        fmt::format("lock-{}-of-{}", share.index, share.count),
                        FolderClaim::Kind::kAlone, kInOwnFolder);
  const ConversionReport report =
      flags.output.finish
          ? FinishWithProgress(plan, output_dir, options, interruption)
          : ConvertWithProgress(plan, output_dir, options, interruption);
  std::cerr << FirstLines(BadImageLines(report), kNotesShown)
            << NoticesRow(MakeNotices(report)).text;
  std::cout << RenderText(ConversionTable(report, output_dir));
  if (!target.empty()) {
    UploadWithProgress(report, output_dir, target, interruption);
  }
  std::cerr << NextText(report, output_dir, flags.input.are_annotated());
  return ExitCode::kDone;
}

}  // namespace

ProgramEnd ImagenetToRecords(int argc, char** argv) {
  CLI::App app("Turns images in folders, tars, zips or TFRecords into shards.");
  app.footer(kExamples);
  Flags flags;
  AddRawInputFlags(app, flags.input);
  AddOutputFlags(app, flags.output);
  AddConnectionsFlag(app, flags.cloud);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  return RunInterruptibly("imagenet_to_records", "finished shards are kept",
                          [&](const Interruption& interruption) {
                            return Run(flags, interruption);
                          });
}

}  // namespace infeed
