#include "tools/convert/output_flags.h"

#include <array>
#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"
#include "tools/cli/help_text.h"
#include "tools/shards/plan.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {
namespace {

constexpr const char* kAuto = "auto";

struct Scheduler {
  const char* sign;  // a variable set only in processes that it started
  const char* index;
  const char* count;
  const char* first;  // the variable with the first index, if there is one
};
// Under Slurm, mpirun starts its daemons by srun, and its processes inherit
// srun's variables: so the innermost scheduler comes first, and srun last.
constexpr std::array<Scheduler, 4> kSchedulers = {
    {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
      "SLURM_ARRAY_TASK_MIN"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
      nullptr},
     {"PMI_RANK", "PMI_RANK", "PMI_SIZE", nullptr},
     {"SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS", nullptr}}};

std::int64_t ParseNumber(const std::string& name, const std::string& text) {
  const auto number = ParseWholeNumber<std::int64_t>(text);
  if (!number || *number < 0) {
    throw UsageError(name + " " + text + ": give a number from 0 on, or auto");
  }
  return *number;
}

std::int64_t NumberIn(const Environment& environment, const std::string& name) {
  const std::optional<std::string> text = environment(name);
  if (!text) {
    throw UsageError("--task_index auto: " + name +
                     " is not set, but related variables are: give "
                     "--task_index and --num_tasks as numbers");
  }
  return ParseNumber(name, *text);
}

void CheckShare(const TaskShare& share, const std::string& whence) {
  if (share.count < 1) {
    throw UsageError("--num_tasks: " + whence + " must be at least 1");
  }
  if (share.index < 0 || share.index >= share.count) {
    throw UsageError(fmt::format(
        "--task_index: {} gives task {} of {} tasks, which are numbered from 0",
        whence, share.index, share.count));
  }
}

TaskShare ShareOfScheduler(const Environment& environment) {
  for (const Scheduler& scheduler : kSchedulers) {
    if (!environment(scheduler.sign)) {
      continue;
    }
    const bool offset =
        scheduler.first != nullptr && environment(scheduler.first);
    const TaskShare share = {
        .index = NumberIn(environment, scheduler.index) -
                 (offset ? NumberIn(environment, scheduler.first) : 0),
        .count = NumberIn(environment, scheduler.count)};
    CheckShare(share, scheduler.index);
    return share;
  }
  throw UsageError(
      "--task_index auto: neither Slurm, Open MPI nor PMI started this "
      "process: give --task_index and --num_tasks as numbers");
}

// A number beside "auto" must equal the scheduler's value.
void CheckAgrees(const std::string& flag, const std::string& given,
                 std::int64_t found) {
  if (given.empty() || given == kAuto || ParseNumber(flag, given) == found) {
    return;
  }
  throw UsageError(flag + " " + given + ": the scheduler's value is " +
                   std::to_string(found));
}

constexpr int kMinMaxSize = 32;
constexpr int kMaxSize = 65500;             // of a JPEG's side
constexpr std::int64_t kBytesOfKeys = 400;  // of a record, estimated

ImageSize ReadSize(const std::string& text) {
  const std::optional<ImageSize> size = ParseImageSize(text);
  if (!size || size->longer() > kMaxSize) {
    throw UsageError(fmt::format(
        "--image_size '{}': must be a side, or a height and a width such as "
        "224x320, of 1 to {} pixels",
        text, kMaxSize));
  }
  return *size;
}

void AddBadImageFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Images");
  AddChoice(
      app, "--on_bad_image", flags.converter.on_bad_image, kOnBadImages,
      "Policy for a broken image: fail; skip it; or reencode what can still "
      "be decoded of it, and skip the rest. All are reported.");
  Rare(app.add_flag("--verify_images,!--no_verify_images",
                    flags.converter.image.verify,
                    "Decode every image once to find broken ones (default)."));
}

void AddImageFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Images");
  ImageEncoderOptions& image = flags.converter.image;
  app.add_option_function<std::string>(
         "--image_size",
         [&](const std::string& text) { flags.image_size = ReadSize(text); },
         "Size of --format pixels, a side or height x width: an image is "
         "resized until it covers that, and its middle is kept.")
      ->option_text("SIZE=224");
  app.add_option(
         "--max_size", image.max_size,
         "Shrink larger images to this many pixels on the shorter side.")
      ->check(CLI::Range(kMinMaxSize, kMaxSize))
      ->option_text("INT");
  Rare(app.add_option("--quality", image.quality,
                      "Quality of JPEGs that are shrunk, turned or mended."))
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  Rare(
      app.add_option_function<std::string>(
          "--seek_index",
          [&](const std::string& name) {
            flags.seek_index = ParseChoice("--seek_index", name, kSeekEntries);
          },
          "Seek index of each JPEG, with which readers decode only their "
          "window: an entry for each row of MCUs (0.3 % of its bytes), or each "
          "8th (2 %) or 4th MCU (4 %)."))
      ->check(CLI::IsMember({"4", "8", "none", "rows"}))
      ->option_text("none|rows|8|4=rows");
  Rare(app.add_flag("--keep_png", image.keep_png, "Store PNGs as they are."));
  app.add_flag("--exif_rotate,--exif_orientation", image.exif_rotate,
               "Rotate images as their EXIF data asks, and encode them again; "
               "otherwise they are stored unchanged and counted.");
}

// "jpeg" is an alias of tfrecord.
void AddFormatFlag(CLI::App& app, OutputFlags& flags) {
  app.add_option_function<std::string>(
         "--format",
         [&](const std::string& name) {
           flags.converter.image.format =
               name == "pixels" ? ImageForm::kPixels : ImageForm::kJpeg;
           flags.plan.format = name == "webdataset" ? ShardFormat::kWebdataset
                                                    : ShardFormat::kTfrecord;
         },
         "The shards: TFRecords of the images as they are, TFRecords of "
         "pixels, decoded for the fastest input, or tars for webdataset.")
      ->check(CLI::IsMember({"tfrecord", "pixels", "webdataset", "jpeg"}))
      ->option_text("tfrecord|pixels|webdataset=tfrecord");
}

void AddShardFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Shards");
  app.add_option("--local_scratch_dir", flags.output_dir,
                 "Folder for the shards.")
      ->required();
  AddFormatFlag(app, flags);
  app.add_option("--shards", flags.shards,
                 "Shards of each split: a number, a size such as 256MB, or "
                 "auto (about 128 MB each).")
      ->capture_default_str();
  Rare(AddChoice(
      app, "--layout", flags.plan.layout,
      Choices<ShardLayout, 2>{{{"flat", ShardLayout::kFlat},
                               {"reference", ShardLayout::kReference}}},
      "Names of the shards: OUT/train-00000-of-00008 (flat), or "
      "OUT/train/train-00000-of-01024 (reference); of tars "
      "OUT/train-000000.tar."));
  app.add_option("--seed", flags.plan.seed,
                 "Seed of the training images' order.")
      ->capture_default_str();
}

void AddRunFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Run");
  app.add_option("--threads", flags.converter.threads,
                 "Number of threads; 0: one per core.")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  Rare(app.add_flag(
      "--verify_resume", flags.converter.verify_resume,
      "Read the finished shards of an earlier run before keeping them."));
  app.add_flag("--overwrite", flags.converter.overwrite,
               "Remove or replace the files of another conversion in the "
               "folder.");
  app.add_flag("--dry_run", flags.dry_run, "Only print what would be written.");
}

void AddTaskFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Several processes", Shown::kInHelpAll);
  app.add_option("--num_tasks", flags.num_tasks,
                 "Processes that share the shards, or auto: the number set by "
                 "Slurm or MPI.");
  app.add_option("--task_index", flags.task_index,
                 "Number of this process among --num_tasks, from 0, or auto.");
  app.add_flag("--finish", flags.finish,
               "Check every shard once all tasks are done, then write "
               "labels.txt and dataset.json.");
}

// The reference converter's flags, under its names.
void AddUploadFlags(CLI::App& app, OutputFlags& flags) {
  const FlagGroup group(app, "Cloud");
  app.add_option("--gcs_output_path", flags.gcs_output_path,
                 "Upload the shards as well: gs://BUCKET/PREFIX or s3://...");
  app.add_option("--project", flags.project,
                 "Cloud project of a gs:// bucket.");
  Rare(app.add_flag_function(
      "--gcs_upload,!--nogcs_upload",
      [&](std::int64_t count) { flags.gcs_upload = count > 0; },
      "Upload; on when --gcs_output_path is given."));
}

// Rejects combinations in which a flag would have no effect, or only a partial
// one.
void CheckImageOptions(const OutputFlags& flags) {
  const ImageEncoderOptions& image = flags.converter.image;
  const bool is_packed = image.format == ImageForm::kPixels;
  if (is_packed && (image.max_size > 0 || image.keep_png)) {
    throw UsageError(
        "--format pixels leaves no image to store: leave --max_size and "
        "--keep_png out; --image_size is the size of the pixels");
  }
  if (!is_packed && flags.image_size) {
    throw UsageError(
        "--image_size is for --format pixels; --max_size shrinks JPEGs");
  }
  if (flags.plan.format == ShardFormat::kWebdataset &&
      flags.seek_index.value_or(SeekEntries::kNone) != SeekEntries::kNone) {
    throw UsageError(
        "--seek_index is for TFRecords: leave it out with --format webdataset");
  }
  if (flags.converter.on_bad_image == OnBadImage::kReencode && !image.verify) {
    throw UsageError(
        "--on_bad_image reencode has to decode every image: leave "
        "--no_verify_images out");
  }
}

}  // namespace

TaskShare ParseTaskShare(const std::string& task_index,
                         const std::string& num_tasks,
                         const Environment& environment) {
  if (task_index.empty() && num_tasks.empty()) {
    return {};
  }
  if (task_index == kAuto || num_tasks == kAuto) {
    const TaskShare share = ShareOfScheduler(environment);
    CheckAgrees("--task_index", task_index, share.index);
    CheckAgrees("--num_tasks", num_tasks, share.count);
    return share;
  }
  if (task_index.empty() || num_tasks.empty()) {
    throw UsageError(
        "--task_index and --num_tasks belong together: give both, or auto");
  }
  const TaskShare share = {.index = ParseNumber("--task_index", task_index),
                           .count = ParseNumber("--num_tasks", num_tasks)};
  CheckShare(share, "--num_tasks " + num_tasks);
  return share;
}

void AddOutputFlags(CLI::App& app, OutputFlags& flags) {
  AddShardFlags(app, flags);
  AddImageFlags(app, flags);
  AddBadImageFlags(app, flags);
  AddRunFlags(app, flags);
  AddTaskFlags(app, flags);
  AddUploadFlags(app, flags);
  NameValues(app, {{"--local_scratch_dir", "DIR"}});
}

PlanOptions CheckedPlanOptions(const OutputFlags& flags) {
  PlanOptions options = flags.plan;
  const ShardsFlag shards = ParseShardsFlag(flags.shards);
  options.shards = shards.number;
  options.shard_bytes = shards.bytes;
  const ImageEncoderOptions image = CheckedConverterOptions(flags).image;
  if (image.format == ImageForm::kPixels) {
    options.record_bytes =
        kBytesOfKeys + static_cast<std::int64_t>(4 * image.image_size.pixels());
  }
  return options;
}

ConverterOptions CheckedConverterOptions(const OutputFlags& flags) {
  ConverterOptions options = flags.converter;
  CheckImageOptions(flags);
  if (IsUrl(flags.output_dir)) {
    throw UsageError("--local_scratch_dir " + flags.output_dir +
                     ": give a folder; --gcs_output_path uploads from there");
  }
  options.seek_index = flags.plan.format == ShardFormat::kWebdataset
                           ? SeekEntries::kNone
                           : flags.seek_index.value_or(options.seek_index);
  if (flags.image_size) {
    options.image.image_size = *flags.image_size;
  }
  if (!flags.finish) {
    options.share = ParseTaskShare(flags.task_index, flags.num_tasks);
    return options;
  }
  if (!flags.task_index.empty()) {
    throw UsageError(
        "--finish is for all tasks together: leave --task_index out");
  }
  // Any index is fine: only the number of tasks matters.
  options.share = ParseTaskShare(
      flags.num_tasks.empty() || flags.num_tasks == "auto" ? "" : "0",
      flags.num_tasks);
  return options;
}

UploadTarget CheckedUploadTarget(const OutputFlags& flags) {
  const std::string url = OneUrl(flags.gcs_output_path);
  if (!flags.gcs_upload.value_or(!url.empty())) {
    return {};
  }
  const bool is_gs = url.starts_with("gs://");
  if (flags.project.empty() && (url.empty() || is_gs)) {
    throw UsageError(
        "--project is required to upload to gs:// (or give --nogcs_upload)");
  }
  if (url.empty()) {
    throw UsageError(
        "--gcs_output_path is required to upload (or give --nogcs_upload)");
  }
  if ((!is_gs && !url.starts_with("s3://")) ||
      url.find_first_not_of('/', url.find(':') + 1) == std::string::npos) {
    throw UsageError("--gcs_output_path " + url +
                     ": must start with gs://BUCKET or s3://BUCKET");
  }
  return {.url = url};
}

}  // namespace infeed
