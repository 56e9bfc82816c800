#include "trainer/replay/replay_lines.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "records/bytes/json.h"
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

Json ObjectOf(const SampleDescription& sample) {
  const Window& window = sample.geometry.window;
  return {{"shard", PathForMessages(sample.shard)},
          {"record", sample.number},
          {"file", sample.file_name},
          {"label", sample.label},
          {"window", {window.y, window.x, window.height, window.width}},
          {"mirrored", sample.geometry.is_mirrored},
          {"augmentations", sample.augmentations}};
}

Json LineOf(const ReplayedStep& step, const ReplayedImage& image) {
  Json line = {
      {"step", step.place.step}, {"slot", image.slot}, {"rank", image.rank}};
  line.update(ObjectOf(image.sample));
  if (image.partner >= 0) {
    line["mixed_with"] = image.partner;
    line["label_share"] = image.share;
  }
  AddResult(image, line);
  return line;
}

}  // namespace

std::string SampleJson(const SampleDescription& sample) {
  return JsonText(ObjectOf(sample));
}

std::string ReplayLines(const ReplayedStep& step) {
  std::string lines;
  for (const ReplayedImage& image : step.images) {
    lines += JsonText(LineOf(step, image)) + "\n";
  }
  return lines;
}

}  // namespace infeed
