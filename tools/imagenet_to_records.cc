#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/conversion_plan.h"
#include "tools/conversion_text.h"
#include "tools/converter.h"
#include "tools/duplicates.h"
#include "tools/flags.h"
#include "tools/image_tree.h"
#include "tools/input_flags.h"
#include "trainer/progress.h"

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
    "  imagenet_to_records --manifest photos.csv --local_scratch_dir records\n"
    "      a table with the columns path and label, and split and text if any\n"
    "  imagenet_to_records --raw_data_dir raw --local_scratch_dir records \\\n"
    "      --layout reference\n"
    "      the shards of the reference converter: 1,024 and 128\n\n"
    "Any of jpg, png, webp, bmp, tif, jp2, ppm is an image, in any case.\n"
    "JPEGs are stored byte for byte; the rest, and CMYK, become RGB JPEGs.\n"
    "Exit codes: 0 done, 1 a file could not be read or written, 2 a flag or\n"
    "folder is wrong, 3 an image is bad.";

struct Flags {
  InputFlags input;
  std::string output_dir;
  std::string shards = "auto";
  bool dry_run = false;
  PlanOptions plan;
  ConverterOptions converter;
};

void AddImageFlags(CLI::App& app, Flags& flags) {
  app.add_option("--on_bad_image", flags.converter.on_bad_image,
                 "an image that cannot be decoded: fail, or skip and report")
      ->transform(CLI::CheckedTransformer(std::map<std::string, OnBadImage>{
          {"fail", OnBadImage::kFail}, {"skip", OnBadImage::kSkip}}))
      ->option_text("fail|skip=fail");
  app.add_flag("--verify_images,!--no_verify_images",
               flags.converter.verify_images,
               "decode every image once, to find the broken ones (default)");
}

void AddOutputFlags(CLI::App& app, Flags& flags) {
  app.add_option("--local_scratch_dir", flags.output_dir,
                 "the folder for the shards")
      ->required();
  app.add_option("--shards", flags.shards,
                 "shards of each split: a number, or auto (about 128 MB each)")
      ->capture_default_str();
  app.add_option("--layout", flags.plan.layout,
                 "flat: OUT/train-00000-of-00008; reference: "
                 "OUT/train/train-00000-of-01024")
      ->transform(CLI::CheckedTransformer(std::map<std::string, ShardLayout>{
          {"flat", ShardLayout::kFlat},
          {"reference", ShardLayout::kReference}}))
      ->option_text("flat|reference=flat");
  app.add_option("--seed", flags.plan.seed, "of the training images' order")
      ->capture_default_str();
  app.add_option("--threads", flags.converter.threads, "0: one for each core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_flag("--overwrite", flags.converter.overwrite,
               "remove shards of another conversion from the folder");
  app.add_flag("--dry_run", flags.dry_run, "only say what would be written");
}

std::int64_t ParseShards(const std::string& text) {
  std::int64_t shards = 0;
  if (text == "auto") {
    return shards;
  }
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, shards);
  if (error != std::errc{} || last != end || shards <= 0) {
    throw UsageError("--shards " + text + ": give a number above 0, or auto");
  }
  return shards;
}

ConversionPlan MakePlan(Flags& flags) {
  flags.plan.shards = ParseShards(flags.shards);
  flags.input.threads = flags.converter.threads;
  ImageTree tree = ReadInput(flags.input);
  std::cerr << FirstLines(tree.notes, kNotesShown);
  if (flags.input.report_duplicates) {
    std::cout << DuplicatesText(tree.duplicates);
  }
  return PlanConversion(std::move(tree), flags.plan);
}

ConversionReport ConvertWithProgress(const ConversionPlan& plan,
                                     const Flags& flags) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  ProgressLine line;
  const std::int64_t total = plan.images();
  ConversionReport report =
      Convert(plan, flags.output_dir, flags.converter, [&](std::int64_t done) {
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        line.Update(ConversionProgressText(done, total, elapsed.count()),
                    done == total);
      });
  line.Finish();
  return report;
}

ExitCode ImagenetToRecords(int argc, char** argv) {
  CLI::App app("Turns folders of images into TFRecord shards.");
  app.footer(kExamples);
  Flags flags;
  AddInputFlags(app, flags.input);
  AddImageFlags(app, flags);
  AddOutputFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  const ConversionPlan plan = MakePlan(flags);
  if (flags.dry_run) {
    std::cout << PlanText(plan, flags.output_dir);
    return ExitCode::kDone;
  }
  const ConversionReport report = ConvertWithProgress(plan, flags);
  for (const SkippedImage& image : report.skipped) {
    std::cerr << image.path << ": left out: " << image.reason << "\n";
  }
  std::cout << ReportText(report, flags.output_dir);
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::ImagenetToRecords);
}
