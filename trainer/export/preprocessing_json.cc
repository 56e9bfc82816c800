#include "trainer/export/preprocessing_json.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/interpolation.h"
#include "preprocess/recipe/options.h"
#include "trainer/model/named_networks.h"
#include "trainer/model/normalization.h"
#include "trainer/params/label_facts.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

bool IsLeNet(const TrainParams& params) {
  return params.model.kind == ModelKind::kLeNet;
}

std::string InterpolationOf(const TrainParams& params) {
  return std::string(ChoiceName(
      UsedInterpolation(params.input.recipe, params.input.interpolation,
                        /*training=*/false),
      kInterpolations));
}

// The size to which the image is resized before the crop: its shorter side in
// pixels, or a rectangle that it must cover.
void AddCover(const ImageSize& cover, Json& resize) {
  if (cover.is_square()) {
    resize["shorter_side"] = cover.height;
  } else {
    resize["cover_height"] = cover.height;
    resize["cover_width"] = cover.width;
  }
}

// The operations of the resize, in their order.
Json Resize(const TrainParams& params) {
  const ImageSize& size = params.input.image_size;
  Json resize;
  switch (params.input.recipe) {
    case Recipe::kTpu:
      resize["rule"] = "crop_then_resize";
      resize["crop_fraction"] = EvalCropFraction(params.input.crop, size);
      break;
    case Recipe::kTorchvision:
      resize["rule"] = "resize_then_crop";
      AddCover(EvalCover(params.input.crop, size), resize);
      break;
    case Recipe::kPlain:
    case Recipe::kCifar:
      resize["rule"] = "resize";
      break;
  }
  resize["height"] = size.height;
  resize["width"] = size.width;
  resize["interpolation"] = InterpolationOf(params);
  return resize;
}

Json Channels(const TrainParams& params) {
  if (IsLeNet(params)) {
    return {"red"};
  }
  if (params.model.channels == 1) {
    return {"gray"};
  }
  constexpr std::array kColors = {"red", "green", "blue"};
  Json channels = Json::array();
  for (std::size_t i = 0; std::cmp_less(i, params.model.channels); ++i) {
    channels.push_back(kColors[i % kColors.size()]);
  }
  return channels;
}

Json NormalizationFacts(const TrainParams& params) {
  const PixelStatistics& statistics = StatisticsOf(params);
  const auto channels = static_cast<int>(Channels(params).size());
  // Written as the decimal number, not as the nearest float.
  const auto in_turn = [&](const std::array<float, kImageColors>& colors) {
    Json list = Json::array();
    for (const float value : InTurn(colors, channels)) {
      list.push_back(std::round(value * 1e4) / 1e4);
    }
    return list;
  };
  return {{"formula", "(value - mean) / std"},
          {"mean", in_turn(statistics.mean)},
          {"std", in_turn(statistics.std)},
          {"done_by", {"model.onnx", "model.torchscript"}},
          {"not_done_by", {"model.safetensors"}}};
}

Json Trained(const TrainParams& params, std::int64_t step,
             const std::vector<std::int64_t>& averaged_steps) {
  Json trained = {{"model", ChoiceName(params.model.kind, kModelKinds)}};
  if (!IsLeNet(params)) {
    trained["resnet_depth"] = params.model.depth;
    trained["model_variant"] = ChoiceName(params.model.variant, kModelVariants);
  }
  const NamedNetwork* const network = NetworkOf(params.model);
  if (network != nullptr && params.model.channels == 3) {
    trained["loads_in"] =
        fmt::format("{}.models.{}", network->library, network->name);
  }
  trained["moving_average"] = params.export_moving_average;
  trained["step"] = step;
  if (!averaged_steps.empty()) {
    trained["averaged_steps"] = averaged_steps;
  }
  return trained;
}

}  // namespace

const PixelStatistics& StatisticsOf(const TrainParams& params) {
  return StatisticsOf(NormalizationOf(params));
}

std::string PreprocessingJson(const TrainParams& params,
                              const ModelLabels& labels, std::int64_t step,
                              const std::vector<std::int64_t>& averaged_steps) {
  const ImageSize& size = params.input.image_size;
  const Json channels = Channels(params);
  const Json json = {
      {"schema", 1},
      {"trained", Trained(params, step, averaged_steps)},
      {"recipe", ChoiceName(params.input.recipe, kRecipes)},
      {"resize", Resize(params)},
      {"input",
       {{"name", "images"},
        {"type", "float32"},
        {"layout", "NCHW"},
        {"shape", {"N", channels.size(), size.height, size.width}},
        {"channels", channels},
        {"range", {0, 255}}}},
      {"normalization", NormalizationFacts(params)},
      {"output",
       {{"name", "logits"},
        {"shape", {"N", params.input.num_label_classes}},
        {"probabilities", "softmax"}}},
      {"num_label_classes", params.input.num_label_classes},
      {"label_offset", LabelOffsetOf(params)},
      {"classes", labels.names()}};
  return json.dump(2) + "\n";
}

}  // namespace infeed
