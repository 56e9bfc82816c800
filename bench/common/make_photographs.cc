#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "bench/common/made_shards.h"
#include "tools/cli/flags.h"
#include "tools/cli/parallel_for.h"

// Writes synthetic photographs as files in class folders, the input of
// imagenet_to_records: for measuring without real photographs.
namespace infeed {
namespace {

struct Flags {
  std::string output;
  std::int64_t images = 2000;
  std::int64_t classes = 100;
};

// One image in this many belongs to the validation set.
constexpr std::int64_t kValidationEvery = 20;

std::string FolderOf(const Flags& flags, std::int64_t number) {
  return fmt::format("{}/{}/class{:04}", flags.output,
                     number % kValidationEvery == 0 ? "validation" : "train",
                     number / kValidationEvery % flags.classes);
}

void Write(const Flags& flags, std::int64_t number) {
  const std::string folder = FolderOf(flags, number);
  MakeFolder(folder);
  WriteFileAtomically(fmt::format("{}/{:06}.jpg", folder, number),
                      MadePhotograph(number));
}

ExitCode Run(int argc, char** argv) {
  CLI::App app(
      "Makes photographs of 500x375 in DIR/{train,validation}/<class>/, the "
      "same bytes everywhere.");
  Flags flags;
  app.add_option("--output", flags.output, "the folder for them")->required();
  app.add_option("--images", flags.images)
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--classes", flags.classes)
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  ParallelFor(static_cast<std::size_t>(flags.images), 0, [&](std::size_t i) {
    Write(flags, static_cast<std::int64_t>(i));
  });
  std::cout << flags.images << " photographs in " << flags.output << "\n";
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Run);
}
