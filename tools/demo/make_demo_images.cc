#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "tools/cli/flags.h"
#include "tools/cli/help_text.h"
#include "tools/demo/dataset.h"
#include "tools/demo/shapes.h"

namespace infeed {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  make_demo_images --output demo\n"
    "      3,000 training and 500 validation images in demo/\n"
    "  make_demo_images --output tiny --train 100 --validation 20\n"
    "      a small data set, made in a moment\n\n"
    "The images go into DIR/{train,validation}/<class>/, as "
    "imagenet_to_records takes them. The same seed gives the same bytes.";

ExitCode MakeDemoImages(int argc, char** argv) {
  CLI::App app(
      "Draws a small data set of ten classes that differ in shape and texture, "
      "to try the converter and the trainer with.");
  app.footer(kExamples);
  std::string output;
  DemoDatasetOptions options;
  app.add_option("--output", output, "Folder to write to.")->required();
  app.add_option("--train", options.train_images, "Training images to make.")
      ->capture_default_str()
      ->check(CLI::Range(0, 100'000'000));
  app.add_option("--validation", options.validation_images,
                 "Validation images to make.")
      ->capture_default_str()
      ->check(CLI::Range(0, 100'000'000));
  app.add_option("--seed", options.seed, "Seed of the images.")
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "Number of threads; 0: one per core.")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  NameValues(app, {{"--output", "DIR"}});
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  WriteDemoDataset(output, options);
  std::cout << options.train_images << " training and "
            << CountText(options.validation_images, "validation image")
            << " of " << kDemoClasses << " classes in " << ShownText(output)
            << "\n";
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::MakeDemoImages);
}
