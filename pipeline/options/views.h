#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/memory/batch_parts.h"
#include "preprocess/recipe/options.h"

namespace infeed {

struct InputOptions;
struct OptionAssignment;

// A view of each sample beside its image, which is view 0: another output of
// the same image, or of another one of the record.
struct ViewSpec {
  std::string key = {};  // of the encoded image; empty: image_key
  PreprocessOptions preprocess = {};
  // The number of an earlier view whose random draws the view takes, those of
  // the window for the size of that view's image; labels take its geometry, as
  // an image with the same crop does, in proportion to the sizes: the two are a
  // pair. Absent: draws of its own.
  std::optional<int> draws = {};
  // Labels: a PNG, grey or with a palette, whose values are labels of the
  // pixels of the image of view `draws`; they are resized by nearest.
  ViewContent content = ViewContent::kImage;
  int fill = 255;  // of labels: where there is no image

  [[nodiscard]] bool is_labels() const {
    return content != ViewContent::kImage;
  }
};

// The view that comes next after options.views, with these settings: "key",
// "draws", "labels" (none, uint8 or int32), "fill", and options of the group
// Images but layout, which are else those of the input. Labels have draws 0
// unless given, and the options of that view: of the group only image_size may
// be given. Throws UsageError naming the setting.
[[nodiscard]] ViewSpec MakeView(const InputOptions& options,
                                std::span<const OptionAssignment> settings);

// Throws UsageError for more than kMaxViews with view 0, views without images,
// draws of no earlier view, labels of another size than theirs, beside an
// augmentation that moves pixels, or with a fill that their type cannot hold,
// a pair whose sizes keep it from being exact, and what is refused of the
// image's own options.
void CheckViews(const InputOptions& options);

// The preprocessing of a view by its number, 0 being the image's. Requires: the
// view is there.
[[nodiscard]] const PreprocessOptions& PreprocessOf(const InputOptions& options,
                                                    int view);

// The preprocessing of all views of images, each once.
[[nodiscard]] std::vector<PreprocessOptions> ViewPreprocessing(
    const InputOptions& options);

// A setting, its value as JSON.
struct ViewSetting {
  std::string name;
  std::string json;
};

// The settings of a view that change batches.
[[nodiscard]] std::vector<ViewSetting> ViewSettings(const InputOptions& options,
                                                    const ViewSpec& view);

}  // namespace infeed
