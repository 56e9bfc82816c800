#include "tools/images/raw_input_flags.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "tools/cli/help_text.h"
#include "tools/images/coco.h"
#include "tools/images/data_split.h"
#include "tools/images/duplicates.h"
#include "tools/images/key_points.h"
#include "tools/images/manifest.h"
#include "tools/images/tree_union.h"
#include "tools/images/voc.h"
#include "tools/images/yolo.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Throws UsageError for an option of another kind of annotations.
void CheckAnnotations(const RawInputFlags& flags) {
  const AnnotationOptions& options = flags.annotations;
  const AnnotationOptions standard;
  const bool is_coco = !flags.coco.empty();
  if (std::ranges::find(flags.coco, "") != flags.coco.end()) {
    throw UsageError("--coco: one of the files has no name");
  }
  if (static_cast<int>(is_coco) + static_cast<int>(flags.voc) +
          static_cast<int>(flags.yolo) >
      1) {
    throw UsageError("--coco, --voc and --yolo: give one of them");
  }
  const auto only = [](bool is_given, bool is_of_it, const std::string& flag,
                       const char* kinds) {
    if (is_given && !is_of_it) {
      throw UsageError(flag + " is for " + kinds);
    }
  };
  only(options.drop_crowds, is_coco, "--drop_crowds", "--coco");
  only(options.drop_difficult, flags.voc, "--drop_difficult", "--voc");
  only(options.voc_from_one, flags.voc, "--voc_from_one", "--voc");
  only(options.voc_set != standard.voc_set, flags.voc, "--voc_set", "--voc");
  only(!options.class_list.empty(), flags.voc || flags.yolo, "--class_list",
       "--voc and --yolo");
  only(options.key_point_numbers.has_value(), flags.yolo, "--kpt_shape",
       "--yolo");
  only(options.drop_empty, flags.are_annotated(), "--drop_empty",
       "--coco, --voc and --yolo");
}

ImageTree FindAnnotated(const RawInputFlags& flags,
                        const std::vector<std::string>& folders) {
  const std::string flag = !flags.coco.empty() ? "--coco"
                           : flags.voc         ? "--voc"
                                               : "--yolo";
  if (!flags.manifests.empty() || flags.raw_format != RawFormat::kImages) {
    throw UsageError(flag + ": leave --manifest and --raw_format out");
  }
  if (folders.size() > 1 || (folders.empty() && flags.coco.empty())) {
    throw UsageError(flag + ": takes the images of one --raw_data_dir");
  }
  AnnotationOptions options = flags.annotations;
  options.threads = flags.threads;
  if (!flags.coco.empty()) {
    return ReadCoco(flags.coco, folders.empty() ? "" : folders.front(),
                    options);
  }
  return flags.voc ? ReadVoc(folders.front(), options)
                   : ReadYolo(folders.front(), options);
}

ImageTree FindInput(const RawInputFlags& flags) {
  const std::vector<std::string> folders = flags.folders();
  CheckAnnotations(flags);
  if (flags.are_annotated()) {
    return FindAnnotated(flags, folders);
  }
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
      tree.notes.push_back(fmt::format(
          "the names of the classes are numbers, but classes are numbered in "
          "the order of their names: class {} has the number {} (from 0)",
          name, i));
      return;
    }
  }
}

// A path as an absolute one; a URL without its query, in which a signature may
// be. Sorted, as the order of folders does not matter.
std::vector<std::string> AbsolutePaths(std::vector<std::string> paths) {
  for (std::string& path : paths) {
    if (IsUrl(path)) {
      path = PathForMessages(OneUrl(path));
      continue;
    }
    std::error_code ignored;  // of a folder that is gone
    const fs::path whole = fs::absolute(path, ignored).lexically_normal();
    path = (whole.has_filename() ? whole : whole.parent_path()).string();
  }
  std::ranges::sort(paths);
  return paths;
}

void AddAnnotationFlags(CLI::App& app, RawInputFlags& flags) {
  const FlagGroup group(app, "Detection and segmentation");
  AnnotationOptions& options = flags.annotations;
  app.add_option("--coco", flags.coco,
                 "Boxes in COCO's form: instances_train2017.json; its images "
                 "are in --raw_data_dir, else beside it; may be repeated.")
      ->allow_extra_args(false);
  app.add_flag("--voc", flags.voc,
               "Boxes, and masks of classes, in Pascal VOC's form: a folder as "
               "VOC2012, or images/ and annotations/.");
  app.add_flag("--yolo", flags.yolo,
               "Boxes in YOLO's form: images/ and labels/, in each or around "
               "them a folder for each split, if any.");
  app.add_flag("--drop_crowds", options.drop_crowds,
               "Leave out COCO's crowds.");
  app.add_flag("--drop_difficult", options.drop_difficult,
               "Leave out VOC's difficult objects.");
  app.add_flag("--drop_empty", options.drop_empty,
               "Leave out images without objects.");
  Rare(app.add_option("--class_list", options.class_list,
                      "Names of VOC's or YOLO's classes, one a line: the first "
                      "one has label 1."));
  Rare(app.add_option_function<std::string>(
           "--kpt_shape",
           [&options](const std::string& text) {
             options.key_point_numbers = ParseKptShape(text);
           },
           "Key points of YOLO's lines where data.yaml does not say so: "
           "their number and the numbers of each, such as 17,3, or none."))
      ->option_text("K,D|none");
  Rare(app.add_option("--voc_set", options.voc_set,
                      "Folder of the lists in VOC's ImageSets, such as "
                      "Segmentation."))
      ->capture_default_str();
  Rare(app.add_flag("--voc_from_one", options.voc_from_one,
                    "Subtract 1 from VOC's coordinates."));
  NameValues(
      app,
      {{"--coco", "FILE"}, {"--class_list", "FILE"}, {"--voc_set", "NAME"}});
}

}  // namespace

std::vector<std::string> RawInputFlags::folders() const {
  std::vector<std::string> all;
  for (const std::string_view flag : raw_data_dirs) {
    if (flag.empty() || flag.starts_with(',') || flag.ends_with(',') ||
        flag.find(",,") != std::string_view::npos) {
      throw UsageError("--raw_data_dir: one of the folders has no name");
    }
    std::ranges::move(DataPaths(flag), std::back_inserter(all));
  }
  return all;
}

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
  AddChoice(app, "--raw_format", flags.raw_format,
            Choices<RawFormat, 4>{{{"images", RawFormat::kImages},
                                   {"xla_jl", RawFormat::kXlaJl},
                                   {"idx", RawFormat::kIdx},
                                   {"cifar10", RawFormat::kCifar10}}},
            "Format of --raw_data_dir: images in folders, XLA.jl's raw "
            "files, MNIST's idx files or CIFAR-10's binary batches.");
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
  // Of infeed.convert(), whose --raw_data_dir has a new name in each run.
  app.add_option("--source", flags.source)->group("");
  NameValues(app, {{"--raw_data_dir", "DIR"},
                   {"--manifest", "FILE"},
                   {"--image_key", "KEY"},
                   {"--label_key", "KEY"}});
  AddAnnotationFlags(app, flags);
}

std::string SourceText(const RawInputFlags& flags) {
  std::vector<std::string> paths = flags.folders();
  for (const std::vector<std::string>* more : {&flags.manifests, &flags.coco}) {
    paths.insert(paths.end(), more->begin(), more->end());
  }
  const AnnotationOptions& options = flags.annotations;
  if (!options.class_list.empty()) {
    paths.push_back(options.class_list);
  }
  return fmt::format(
      "{} raw_format={} voc={} yolo={} drop={}{}{} voc_set={} voc_from_one={} "
      "kpt_shape={} split={} image_key={} label_key={}",
      flags.source.empty() ? fmt::format("{}", AbsolutePaths(std::move(paths)))
                           : flags.source,
      static_cast<int>(flags.raw_format), flags.voc, flags.yolo,
      options.drop_crowds, options.drop_difficult, options.drop_empty,
      options.voc_set, options.voc_from_one,
      options.key_point_numbers ? fmt::format("{}", *options.key_point_numbers)
                                : "",
      flags.split, flags.keys.image, flags.keys.label);
}

ImageTree ReadRawInput(const RawInputFlags& flags) {
  const std::vector<double> fractions =
      flags.split.empty() ? std::vector<double>{} : ParseSplit(flags.split);
  ImageTree tree = FindInput(flags);
  if (!flags.are_annotated()) {
    if (tree.classes.size() == 1) {
      NoteOneClass({tree.classes.front().name}, tree.notes);
    }
    NoteOtherNumbers(tree);
  }
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
