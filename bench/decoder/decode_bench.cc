// Measures how fast JPEGs are decoded to pixels and slots, compared with
// libjpeg-turbo and OpenCV.

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/environment.h"
#include "base/error.h"
#include "bench/decoder/jpeg_source.h"
#include "bench/decoder/measures.h"
#include "bench/decoder/rivals.h"
#include "bench/decoder/speed_table.h"
#include "preprocess/pixels/simd_target.h"
#include "tools/cli/flags.h"
#include "tools/cli/number_checks.h"
#include "tools/cli/report_table.h"

namespace infeed {
namespace {

struct Flags {
  std::string path;
  int images = 500;
  std::string target;
  bool json = false;
  DecodeMeasureOptions measures;
};

constexpr const char* kDescription =
    "Measures the decoder, the seek index, the resize and the whole training "
    "recipe on the JPEGs of a folder or of shards, on one core, in turns with "
    "libjpeg-turbo and OpenCV: the same images, the same windows, in one "
    "run.\n\n"
    "  decode_bench PHOTOGRAPHS\n"
    "  decode_bench 'DATA/train-*' --images 100 --target AVX2 --json\n";

// Pins the thread to its core: another core would begin with cold caches.
void StayOnThisCore() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &set);
  Check(::sched_setaffinity(0, sizeof set, &set) == 0,
        "a thread may stay where it is");
}

std::vector<std::string> Jpegs(const Flags& flags) {
  const JpegFiles files = FindJpegFiles(flags.path);
  JpegSource source(files);
  std::vector<std::string> jpegs;
  while (std::cmp_less(jpegs.size(), flags.images)) {
    std::optional<FoundJpeg> found = source.Next();
    if (!found) {
      break;
    }
    jpegs.push_back(std::move(found->bytes));
  }
  return jpegs;
}

SpeedReport Measured(const Flags& flags) {
  const DecodeMeasures measures(Jpegs(flags), flags.measures);
  SpeedReport report{.cpu = ProcessorName(),
                     .target = CurrentSimdTarget(),
                     .versions = {LibjpegVersion(), OpenCvVersion()},
                     .images = measures.images(),
                     .windows = flags.measures.epochs,
                     .repetitions = flags.measures.repetitions};
  measures.AddWholeDecodes(report);
  measures.AddWindowDecodes(report);
  measures.AddResizes(report);
  measures.AddRecipes(report);
  measures.AddIndexes(report);
  return report;
}

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("path", flags.path, "Folder of JPEGs or shards, or shards.")
      ->required()
      ->envname("INFEED_DATA_DIR")
      ->type_name("DIR");
  app.add_option("--images", flags.images, "Images to use, from the first on.")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--epochs", flags.measures.epochs,
                 "Training windows of each image.")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--repetitions", flags.measures.repetitions,
                 "of everything; the least counts")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--target", flags.target, "SIMD target. [the best]")
      ->check(CLI::IsMember(SupportedSimdTargets()));
  app.add_flag("--json", flags.json, "Print JSON instead of a table.");
}

ExitCode DecodeBench(int argc, char** argv) {
  Flags flags;
  CLI::App app(kDescription);
  AddFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  UseSimdTarget(flags.target);
  StayOnThisCore();
  ProgressLine line;
  flags.measures.progress = [&](std::string_view what, double done) {
    line.Update(fmt::format("{}: {:.0f} %", what, 100 * done));
  };
  const ReportTable report = SpeedTable(Measured(flags));
  line.Finish();
  fmt::print("{}", flags.json ? RenderJson(report) : RenderText(report));
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::DecodeBench);
}
