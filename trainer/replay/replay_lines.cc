#include "trainer/replay/replay_lines.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "records/files/open_source.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

Json FiniteOrNull(float value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

void AddResult(const ReplayedImage& image, Json& line) {
  if (!image.result) {
    return;
  }
  line["loss"] =
      image.sample.label < 0 ? Json(nullptr) : FiniteOrNull(image.result->loss);
  line["predicted"] = image.result->predicted;
  line["probability"] = FiniteOrNull(image.result->probability);
}

Json LineOf(const ReplayedStep& step, const ReplayedImage& image) {
  const SampleDescription& sample = image.sample;
  const Window& window = sample.geometry.window;
  Json line = {{"step", step.place.step},
               {"slot", image.slot},
               {"rank", image.rank},
               {"shard", PathForMessages(sample.shard)},
               {"record", sample.number},
               {"file", sample.file_name},
               {"label", sample.label},
               {"window", {window.y, window.x, window.height, window.width}},
               {"mirrored", sample.geometry.is_mirrored},
               {"augmentations", sample.augmentations}};
  if (image.partner >= 0) {
    line["mixed_with"] = image.partner;
    line["label_share"] = image.share;
  }
  AddResult(image, line);
  return line;
}

}  // namespace

std::string ReplayLines(const ReplayedStep& step) {
  std::string lines;
  for (const ReplayedImage& image : step.images) {
    // A name may have bytes that are no UTF-8.
    lines += LineOf(step, image)
                 .dump(-1, ' ', false, Json::error_handler_t::replace) +
             "\n";
  }
  return lines;
}

}  // namespace infeed
