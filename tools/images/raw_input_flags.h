#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/store/image_tree.h"
#include "records/store/key_guess.h"
#include "tools/images/annotations.h"
#include "tools/images/raw_formats.h"

namespace CLI {
class App;
}

namespace infeed {

struct RawInputFlags {
  std::vector<std::string> raw_data_dirs;
  std::vector<std::string> manifests;
  RawFormat raw_format = RawFormat::kImages;
  std::vector<std::string> coco = {};
  bool voc = false;
  bool yolo = false;
  AnnotationOptions annotations = {};
  std::string split;
  bool report_duplicates = false;
  RecordKeys keys = {};     // --image_key, --label_key
  std::string source = {};  // --source, hidden: in place of the paths' text
  int threads = 0;          // the program's --threads; not added here
  // FindImagesOptions::on_records
  std::function<void(std::int64_t)> on_records = [](std::int64_t) {};

  // What raw_data_dirs name, each of which may be several, separated by commas.
  // Throws UsageError for one without a name.
  [[nodiscard]] std::vector<std::string> folders() const;
  // Whether images have boxes in place of classes.
  [[nodiscard]] bool are_annotated() const {
    return !coco.empty() || voc || yolo;
  }
};

// Adds the flags to an app, whose parse fills them in.
void AddRawInputFlags(CLI::App& app, RawInputFlags& flags);

// Names the input and how it is read, the same for the same flags from any
// folder: absolute paths, URLs without their signatures, and the options that
// change the images or their order.
[[nodiscard]] std::string SourceText(const RawInputFlags& flags);

// Lists the images that the flags name, and divides them into splits if
// requested. Finds all errors of the input as a whole, before anything is
// written. Throws UsageError, IoError, DataError.
[[nodiscard]] ImageTree ReadRawInput(const RawInputFlags& flags);

}  // namespace infeed
