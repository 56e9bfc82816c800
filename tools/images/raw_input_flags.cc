#include "tools/images/raw_input_flags.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "records/files/class_list.h"
#include "records/files/record_files.h"
#include "tools/cli/help_text.h"
#include "tools/images/data_split.h"
#include "tools/images/duplicates.h"
#include "tools/images/manifest.h"
#include "tools/images/tree_union.h"

namespace infeed {
namespace {

// The folders of all flags, separated by commas.
std::vector<std::string> Folders(const std::vector<std::string>& flags) {
  std::vector<std::string> folders;
  for (const std::string_view flag : flags) {
    if (flag.empty() || flag.starts_with(',') || flag.ends_with(',') ||
        flag.find(",,") != std::string_view::npos) {
      throw UsageError("--raw_data_dir: one of the folders has no name");
    }
    std::ranges::move(DataPaths(flag), std::back_inserter(folders));
  }
  return folders;
}

ImageTree FindInput(const RawInputFlags& flags) {
  const std::vector<std::string> folders = Folders(flags.raw_data_dirs);
  if (flags.manifests.empty() && folders.empty()) {
    throw UsageError(
        "--raw_data_dir is required: the folder with the images (or "
        "--manifest, a table of them)");
  }
  if (flags.raw_format != RawFormat::kImages) {
    if (!flags.manifests.empty() || folders.size() != 1) {
      throw UsageError(
          "--raw_format: takes the raw files of one --raw_data_dir, and no "
          "--manifest");
    }
    return FindRawImages(folders.front(), flags.raw_format);
  }
  if (flags.manifests.empty()) {
    return FindImagesIn(folders, {.threads = flags.threads,
                                  .keys = flags.keys,
                                  .on_records = flags.on_records});
  }
  if (folders.size() > 1) {
    throw UsageError(
        "--raw_data_dir: a manifest's paths can start at one folder only; give "
        "one");
  }
  return ReadManifests(flags.manifests, folders.empty() ? "" : folders.front());
}

// Notes that classes named by numbers get other labels if numbers are missing
// or folders are sorted as text.
void NoteOtherNumbers(ImageTree& tree) {
  std::optional<std::int64_t> first;
  for (std::size_t i = 0; i < tree.classes.size(); ++i) {
    const std::string& name = tree.classes[i].name;
    const auto number = ParsePlainNumber<std::int64_t>(name);
    if (!number || *number < 0) {
      return;
    }
    first = first.value_or(std::min<std::int64_t>(*number, 1));
    if (*number - *first != static_cast<std::int64_t>(i)) {
      tree.notes.push_back(
          "the names of the classes are numbers, but classes are numbered in "
          "the order of their names: class " +
          name + " has the number " + std::to_string(i) + " (from 0)");
      return;
    }
  }
}

}  // namespace

void AddRawInputFlags(CLI::App& app, RawInputFlags& flags) {
  const FlagGroup group(app, "Input");
  app.add_option(
         "--raw_data_dir", flags.raw_data_dirs,
         "Folder with the images, or TFRecords, tars or zips of them: a "
         "folder, files, patterns, {000..099}; local or at s3:// or "
         "gs://. Several are combined: A,B or the flag again.")
      ->allow_extra_args(false);
  app.add_option("--manifest", flags.manifests,
                 "Table of the images instead, .csv or .tsv: columns path and "
                 "label, optionally split and text; paths (or URLs) start at "
                 "--raw_data_dir, else at the manifest; may be repeated.")
      ->allow_extra_args(false);
  app.add_option("--raw_format", flags.raw_format,
                 "Format of --raw_data_dir: images in folders, XLA.jl's raw "
                 "files, MNIST's idx files or CIFAR-10's binary batches.")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, RawFormat>{{"images", RawFormat::kImages},
                                           {"xla_jl", RawFormat::kXlaJl},
                                           {"idx", RawFormat::kIdx},
                                           {"cifar10", RawFormat::kCifar10}}))
      ->option_text("images|xla_jl|idx|cifar10=images");
  app.add_option("--split", flags.split,
                 "Shares of each class for train, validation and test: "
                 "0.9/0.1, 0.8/0.1/0.1 or reference (the same); for plain "
                 "class folders, which are all train without it.");
  Rare(app.add_option("--image_key", flags.keys.image,
                      "Key of the image in TFRecords; of tars the ending of "
                      "the image's member, such as png."));
  Rare(app.add_option("--label_key", flags.keys.label,
                      "Key of the label in TFRecords."));
  Rare(app.add_flag(
      "--report_duplicates", flags.report_duplicates,
      "List images of equal content (reads all files that have the "
      "size of another file)."));
  NameValues(app, {{"--raw_data_dir", "DIR"},
                   {"--manifest", "FILE"},
                   {"--image_key", "KEY"},
                   {"--label_key", "KEY"}});
}

ImageTree ReadRawInput(const RawInputFlags& flags) {
  const std::vector<double> fractions =
      flags.split.empty() ? std::vector<double>{} : ParseSplit(flags.split);
  ImageTree tree = FindInput(flags);
  if (tree.classes.size() == 1) {
    NoteOneClass({tree.classes.front().name}, tree.notes);
  }
  NoteOtherNumbers(tree);
  if (!fractions.empty()) {
    SplitTree(fractions, tree);
  }
  if (flags.report_duplicates) {
    tree.duplicates = FindDuplicates(tree, flags.threads);
    for (std::string& warning : DuplicateWarnings(tree.duplicates)) {
      tree.notes.push_back(std::move(warning));
    }
  }
  return tree;
}

}  // namespace infeed
