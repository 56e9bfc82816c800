#include "tools/input_flags.h"

#include <vector>

#include <CLI/CLI.hpp>

#include "tools/data_split.h"

namespace infeed {

void AddInputFlags(CLI::App& app, InputFlags& flags) {
  app.add_option("--raw_data_dir", flags.raw_data_dir,
                 "the folder with the images")
      ->required();
  app.add_option("--split", flags.split,
                 "0.9/0.1 or 0.8/0.1/0.1: parts of each class for train, "
                 "validation and test; for plain class folders, where all is "
                 "train otherwise");
}

ImageTree ReadInput(const InputFlags& flags) {
  const std::vector<double> fractions =
      flags.split.empty() ? std::vector<double>{} : ParseSplit(flags.split);
  ImageTree tree = FindImages(flags.raw_data_dir);
  if (!fractions.empty()) {
    SplitTree(fractions, tree);
  }
  return tree;
}

}  // namespace infeed
