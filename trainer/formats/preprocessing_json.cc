#include "trainer/formats/preprocessing_json.h"

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

namespace infeed {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool IsLeNet(const PreprocessingFacts& facts) {
  return facts.model.kind == ModelKind::kLeNet;
}

std::string InterpolationOf(const PreprocessingFacts& facts) {
  return std::string(ChoiceName(UsedInterpolation(facts.input.preprocess,
                                                  /*training=*/false),
                                kInterpolations));
}

// The size to which the image is resized before the crop: its shorter side in
// pixels, or a rectangle that it must cover.
void AddCover(const ImageSize& cover, OrderedJson& resize) {
  if (cover.is_square()) {
    resize["shorter_side"] = cover.height;
  } else {
    resize["cover_height"] = cover.height;
    resize["cover_width"] = cover.width;
  }
}

// The operations of the resize, in their order.
OrderedJson Resize(const PreprocessingFacts& facts) {
  const PreprocessOptions& images = facts.input.preprocess;
  const ImageSize& size = images.image_size;
  OrderedJson resize;
  switch (images.recipe) {
    case Recipe::kTpu:
      resize["rule"] = "crop_then_resize";
      resize["crop_fraction"] = EvalCropFraction(images.crop, size);
      break;
    case Recipe::kTorchvision:
      resize["rule"] = "resize_then_crop";
      AddCover(EvalCover(images.crop, size), resize);
      break;
    case Recipe::kPlain:
    case Recipe::kCifar:
      resize["rule"] = "resize";
      break;
    case Recipe::kFit:
      resize["rule"] = "fit";
      resize["fill"] = images.fit.fill;
      resize["margin"] = ChoiceName(images.fit.margin, kFitMargins);
      break;
  }
  resize["height"] = size.height;
  resize["width"] = size.width;
  resize["interpolation"] = InterpolationOf(facts);
  return resize;
}

OrderedJson Channels(const PreprocessingFacts& facts) {
  if (IsLeNet(facts)) {
    return {"red"};
  }
  if (facts.model.channels == 1) {
    return {"gray"};
  }
  constexpr std::array kColors = {"red", "green", "blue"};
  OrderedJson channels = OrderedJson::array();
  for (std::size_t i = 0; std::cmp_less(i, facts.model.channels); ++i) {
    channels.push_back(kColors[i % kColors.size()]);
  }
  return channels;
}

OrderedJson NormalizationFacts(const PreprocessingFacts& facts) {
  const PixelStatistics& statistics = StatisticsOf(facts.normalization);
  const auto channels = static_cast<int>(Channels(facts).size());
  // Written as the decimal number, not as the nearest float.
  const auto in_turn = [&](const std::array<float, kImageColors>& colors) {
    OrderedJson list = OrderedJson::array();
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

OrderedJson Trained(const PreprocessingFacts& facts) {
  OrderedJson trained = {{"model", ChoiceName(facts.model.kind, kModelKinds)}};
  if (!IsLeNet(facts)) {
    trained["resnet_depth"] = facts.model.depth;
    trained["model_variant"] = ChoiceName(facts.model.variant, kModelVariants);
  }
  const NamedNetwork* const network = NetworkOf(facts.model);
  if (network != nullptr && facts.model.channels == 3) {
    trained["loads_in"] =
        fmt::format("{}.models.{}", network->library, network->name);
  }
  trained["moving_average"] = facts.moving_average;
  trained["step"] = facts.step;
  if (!facts.averaged_steps.empty()) {
    trained["averaged_steps"] = facts.averaged_steps;
  }
  return trained;
}

}  // namespace

std::string PreprocessingJson(const PreprocessingFacts& facts) {
  const ImageSize& size = facts.input.preprocess.image_size;
  const OrderedJson channels = Channels(facts);
  const OrderedJson json = {
      {"schema", 1},
      {"trained", Trained(facts)},
      {"recipe", ChoiceName(facts.input.preprocess.recipe, kRecipes)},
      {"resize", Resize(facts)},
      {"input",
       {{"name", "images"},
        {"type", "float32"},
        {"layout", "NCHW"},
        {"shape", {"N", channels.size(), size.height, size.width}},
        {"channels", channels},
        {"range", {0, 255}}}},
      {"normalization", NormalizationFacts(facts)},
      {"output",
       {{"name", "logits"},
        {"shape", {"N", facts.input.num_label_classes}},
        {"probabilities", "softmax"}}},
      {"num_label_classes", facts.input.num_label_classes},
      {"label_offset", facts.input.label_offset.value()},
      {"classes", facts.labels.names()}};
  return json.dump(2) + "\n";
}

}  // namespace infeed
