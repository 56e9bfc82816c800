// Checks on any JPEGs that the decoder gives libjpeg-turbo's pixels: for
// windows of each JPEG, with every instruction set of this CPU.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/error.h"
#include "bench/decoder/jpeg_source.h"
#include "bench/decoder/window_check.h"
#include "preprocess/pixels/simd_target.h"
#include "tools/cli/flags.h"
#include "tools/cli/number_checks.h"
#include "tools/cli/parallel_for.h"

namespace infeed {
namespace {

struct Flags {
  std::string path;
  int windows = 200;
  int threads = 0;
  int denominator = 1;
  std::vector<std::string> targets = CompiledSimdTargets();
};

constexpr std::size_t kMaxDifferences = 10;  // to print

constexpr const char* kDescription =
    "Compares the decoder with libjpeg-turbo: decodes random windows of every "
    "JPEG in a folder, or in shards, on every SIMD target that this CPU has. "
    "A broken JPEG is equal when both refuse it with the same words. The last "
    "line says how many windows are equal; the exit code is 1 when one is "
    "not.\n\n"
    "  verify_decoder PHOTOGRAPHS\n"
    "  verify_decoder 'DATA/train-*' --windows 20 --targets AVX2,PORTABLE\n";

// Shows the progress over all targets. Thread-safe, except SetTarget().
class Progress {
 public:
  explicit Progress(std::int64_t total_bytes) : total_bytes_(total_bytes) {}

  void SetTarget(const std::string& target) { target_ = target; }
  void Add(std::int64_t bytes, std::int64_t windows) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    windows_ += windows;
    const double seconds = line_.seconds();
    const double done =
        static_cast<double>(bytes_) / static_cast<double>(total_bytes_);
    line_.Update(fmt::format(
        "{}: {:.1f} %  {} windows  {:.0f} windows/s  ETA {}", target_,
        100 * done, windows_, static_cast<double>(windows_) / seconds,
        ShortDuration(seconds * (1 - done) / done)));
  }
  void Finish() { line_.Finish(); }

 private:
  const std::int64_t total_bytes_;
  std::string target_;
  std::mutex mutex_;
  std::int64_t bytes_ = 0;
  std::int64_t windows_ = 0;
  ProgressLine line_;
};

struct Findings {
  WindowTally tally;
  std::vector<std::string> differences;

  void Add(const Findings& other) {
    tally += other.tally;
    differences.insert(differences.end(), other.differences.begin(),
                       other.differences.end());
  }
};

// Checks every JPEG with the current target, on several threads.
Findings CheckAll(const JpegFiles& files, const Flags& flags,
                  Progress& progress) {
  JpegSource source(files);
  std::mutex mutex;
  Findings all;
  const std::size_t threads = ThreadCount(flags.threads);
  ParallelFor(threads, flags.threads, [&](std::size_t) {
    WindowChecker checker(
        {.windows = flags.windows, .denominator = flags.denominator});
    Findings own;
    while (const std::optional<FoundJpeg> jpeg = source.Next()) {
      const std::int64_t before = own.tally.windows;
      checker.Check(*jpeg, own.tally, own.differences);
      progress.Add(static_cast<std::int64_t>(jpeg->bytes.size()),
                   own.tally.windows - before);
    }
    const std::lock_guard lock(mutex);
    all.Add(own);
  });
  return all;
}

// The share of windows decoded by PlainJpegDecoder.
std::string FastPath(const WindowTally& tally) {
  return fmt::format("{:.1f} %", 100 * static_cast<double>(tally.plain) /
                                     static_cast<double>(tally.windows));
}

void PrintTarget(const std::string& target, const Findings& findings) {
  const WindowTally& tally = findings.tally;
  fmt::print(
      "{}: {} images, equal {} of {} windows ({} through an index), refused by "
      "both {}, fast path {}, hash {:016x}\n",
      target, tally.images, tally.equal, tally.windows, tally.indexed,
      tally.refused, FastPath(tally), tally.hash);
  std::fflush(stdout);
}

Findings CheckTargets(const JpegFiles& files, const Flags& flags) {
  const std::vector<std::string> supported = SupportedSimdTargets();
  std::vector<std::string> run;
  for (const std::string& target : flags.targets) {
    if (std::ranges::count(supported, target) > 0) {
      run.push_back(target);
    } else {
      fmt::print("{}: not run, this CPU lacks it\n", target);
    }
  }
  Progress progress(files.bytes * static_cast<std::int64_t>(run.size()));
  Findings all;
  for (const std::string& target : run) {
    UseSimdTarget(target);
    progress.SetTarget(target);
    Findings findings = CheckAll(files, flags, progress);
    progress.Finish();
    PrintTarget(target, findings);
    for (std::string& difference : findings.differences) {
      difference.insert(0, target + ": ");
    }
    all.Add(findings);
  }
  return all;
}

ExitCode VerifyDecoder(int argc, char** argv) {
  Flags flags;
  CLI::App app(kDescription);
  app.add_option("path", flags.path, "a folder of JPEGs or shards, or shards")
      ->required()
      ->envname("INFEED_DATA_DIR")
      ->type_name("DIR");
  app.add_option("--windows", flags.windows, "of each image")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--targets", flags.targets, "instruction sets, best first")
      ->delimiter(',')
      ->check(CLI::IsMember(CompiledSimdTargets()))
      ->capture_default_str();
  app.add_option("--denominator", flags.denominator,
                 "decodes to 1/2, 1/4 or 1/8 of the size")
      ->check(CLI::IsMember({1, 2, 4, 8}))
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "0: one for each core")
      ->check(NonNegativeNumber())
      ->capture_default_str();
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  const Findings findings = CheckTargets(FindJpegFiles(flags.path), flags);
  const std::vector<std::string>& differences = findings.differences;
  for (std::size_t i = 0; i < std::min(differences.size(), kMaxDifferences);
       ++i) {
    fmt::print("{}\n", differences[i]);
  }
  if (differences.size() > kMaxDifferences) {
    fmt::print("and {} more\n", differences.size() - kMaxDifferences);
  }
  fmt::print("equal {} of {} windows, fast path {}\n", findings.tally.equal,
             findings.tally.windows, FastPath(findings.tally));
  return differences.empty() ? ExitCode::kDone : ExitCode::kRuntimeError;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::VerifyDecoder);
}
