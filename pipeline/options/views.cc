#include "pipeline/options/views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/options.h"
#include "preprocess/recipe/pair.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

int WholeNumber(const OptionAssignment& given) {
  const auto number = ParseWholeNumber<int>(given.value);
  if (!number) {
    throw UsageError(given.name + "='" + given.value +
                     "': must be a whole number");
  }
  return *number;
}

// Sets one of the settings that only views have; false: it is none.
bool SetOwn(const OptionAssignment& given, ViewSpec& view) {
  if (given.name == "key") {
    view.key = given.value;
  } else if (given.name == "draws") {
    view.draws = WholeNumber(given);
  } else if (given.name == "labels") {
    view.content = ParseChoice("labels", given.value, kViewContents);
  } else if (given.name == "fill") {
    view.fill = WholeNumber(given);
  } else {
    return false;
  }
  return true;
}

[[noreturn]] void RefuseSetting(const std::string& name,
                                const std::vector<InputOption>& rows) {
  std::string known = "key, draws, labels, fill";
  for (const InputOption& row : rows) {
    known += ", " + std::string(row.name);
  }
  throw UsageError("'" + name + "' is no setting of a view: it has " + known);
}

// The options with the view's preprocessing in place of their own.
InputOptions WithPreprocess(const InputOptions& options, const ViewSpec& view) {
  InputOptions changed = options;
  changed.preprocess = view.preprocess;
  return changed;
}

// Labels have all settings of the view that they follow but their own.
void FollowSettings(const InputOptions& options, ViewSpec& view) {
  view.draws = view.draws.value_or(0);
  const auto views = static_cast<int>(options.views.size());
  if (*view.draws >= 0 && *view.draws <= views) {
    view.preprocess = PreprocessOf(options, *view.draws);
  }
}

void CheckFill(const ViewSpec& view) {
  if (view.content == ViewContent::kLabels8 &&
      !std::in_range<std::uint8_t>(view.fill)) {
    throw UsageError(fmt::format(
        "fill {}: labels of uint8 are from 0 to 255: give one of them, or "
        "labels=int32",
        view.fill));
  }
}

void CheckLabels(const InputOptions& options, const ViewSpec& view) {
  if (!view.draws) {
    throw UsageError("labels follow an earlier view: give draws");
  }
  const PreprocessOptions& followed = PreprocessOf(options, *view.draws);
  if (view.preprocess.image_size != followed.image_size) {
    throw UsageError(fmt::format(
        "labels have the image_size of the view that they follow, {}, not {}",
        SizeText(followed.image_size), SizeText(view.preprocess.image_size)));
  }
  if (options.training) {
    CheckPixelsStay("labels", followed.augment);
  }
  CheckFill(view);
}

void CheckPair(const InputOptions& options, const ViewSpec& view) {
  const PreprocessOptions& followed = PreprocessOf(options, *view.draws);
  if (SharesFraming(view.preprocess, followed) &&
      !IsExactPair(view.preprocess, followed, options.training)) {
    throw UsageError(fmt::format(
        "image_size={}: draws={} makes a pair, which recipe={} keeps exact{} "
        "only if the image_size is that of view {}, {}, or a whole number of "
        "times as large: give such a size, or no draws",
        SizeText(view.preprocess.image_size), *view.draws,
        ChoiceName(followed.recipe, kRecipes),
        options.training ? "" : " in an evaluation", *view.draws,
        SizeText(followed.image_size)));
  }
}

void CheckView(const InputOptions& options, int number) {
  const ViewSpec& view = options.views[static_cast<std::size_t>(number) - 1];
  CheckInputRanges(WithPreprocess(options, view));
  CheckPreprocessOptions(view.preprocess);
  CheckIouCrop(view.preprocess.crop, options.objects);
  if (view.draws && (*view.draws < 0 || *view.draws >= number)) {
    throw UsageError(
        fmt::format("draws={}: must be the number of an earlier "
                    "view, from 0 to {}",
                    *view.draws, number - 1));
  }
  if (view.is_labels()) {
    CheckLabels(options, view);
  } else if (view.draws) {
    CheckPair(options, view);
  }
}

}  // namespace

ViewSpec MakeView(const InputOptions& options,
                  std::span<const OptionAssignment> settings) {
  const std::vector<InputOption> rows = ViewOptions();
  InputOptions set = options;
  ViewSpec view;
  std::vector<std::string> of_images;
  bool has_fill = false;
  for (const OptionAssignment& given : settings) {
    if (SetOwn(given, view)) {
      has_fill |= given.name == "fill";
      continue;
    }
    const auto row = std::ranges::find(rows, given.name, &InputOption::name);
    if (row == rows.end()) {
      RefuseSetting(given.name, rows);
    }
    SetOption(*row, given, row->at(set));
    of_images.push_back(given.name);
  }
  view.preprocess = set.preprocess;
  if (!view.is_labels()) {
    if (has_fill) {
      throw UsageError("fill is of labels: give labels=uint8 or labels=int32");
    }
    return view;
  }
  FollowSettings(options, view);
  for (const std::string& name : of_images) {
    if (name != "image_size") {
      throw UsageError(name +
                       ": labels follow the view whose draws they have: give "
                       "it to that one");
    }
    view.preprocess.image_size = set.preprocess.image_size;
  }
  return view;
}

void CheckViews(const InputOptions& options) {
  if (options.views.empty()) {
    return;
  }
  if (options.layout == BatchContent::kNone) {
    throw UsageError("views beside the image, and layout=none has no image");
  }
  if (options.views.size() >= kMaxViews) {
    throw UsageError(fmt::format("{} views: at most {} are possible",
                                 options.views.size() + 1, kMaxViews));
  }
  for (std::size_t i = 0; i < options.views.size(); ++i) {
    const auto number = static_cast<int>(i) + 1;
    try {
      CheckView(options, number);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("view {}: {}", number, error.what()));
    }
  }
}

const PreprocessOptions& PreprocessOf(const InputOptions& options, int view) {
  return view == 0
             ? options.preprocess
             : options.views[static_cast<std::size_t>(view) - 1].preprocess;
}

std::vector<PreprocessOptions> ViewPreprocessing(const InputOptions& options) {
  std::vector<PreprocessOptions> distinct;
  for (const ViewSpec& view : options.views) {
    if (!view.is_labels() &&
        std::ranges::find(distinct, view.preprocess) == distinct.end()) {
      distinct.push_back(view.preprocess);
    }
  }
  return distinct;
}

std::vector<ViewSetting> ViewSettings(const InputOptions& options,
                                      const ViewSpec& view) {
  std::string key = view.key.empty() ? options.image_key : view.key;
  std::string labels(ChoiceName(view.content, kViewContents));
  std::vector<ViewSetting> settings = {
      {"key", JsonText(&key)},
      {"draws", view.draws ? std::to_string(*view.draws) : "null"},
      {"labels", JsonText(&labels)}};
  if (view.is_labels()) {
    settings.push_back({"fill", std::to_string(view.fill)});
    return settings;
  }
  InputOptions set = WithPreprocess(options, view);
  for (const InputOption& row : ViewOptions()) {
    if (row.affects_batches) {
      settings.push_back({std::string(row.name), JsonText(row.at(set))});
    }
  }
  return settings;
}

}  // namespace infeed
