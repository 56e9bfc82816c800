#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "trainer/model/options.h"

namespace infeed {

// A network, its name, and the side of its images. Odd sides are where padding
// before and after differ, and where an average has windows cut off.
struct ModelVariantCase {
  std::string name;
  ModelOptions options;
  int side = 64;

  friend void PrintTo(const ModelVariantCase& c, std::ostream* out) {
    *out << c.name;
  }
};

inline std::vector<ModelVariantCase> ModelVariantCases() {
  return {
      {"torchvision18", {.depth = 18, .num_classes = 10}},
      {"torchvision50", {.depth = 50, .num_classes = 10}},
      {"tpu50", {.variant = ModelVariant::kTpu, .depth = 50, .num_classes = 7}},
      {"tpu18_odd_side",
       {.variant = ModelVariant::kTpu, .depth = 18, .num_classes = 7},
       65},
      {"xla_jl",
       {.variant = ModelVariant::kXlaJl, .depth = 50, .num_classes = 7}},
      {"pre_activation50",
       {.variant = ModelVariant::kTpu,
        .depth = 50,
        .num_classes = 7,
        .pre_activation = true}},
      {"small_stem", {.depth = 18, .num_classes = 10, .small_stem = true}, 32},
      {"resnet_d_odd_side",
       {.depth = 50,
        .num_classes = 7,
        .resnetd_stem = true,
        .resnetd_shortcut = true},
       90},
      {"resnet_rs",
       {.depth = 50,
        .num_classes = 7,
        .resnetd_stem = true,
        .resnetd_shortcut = true,
        .replace_stem_max_pool = true,
        .se_ratio = 0.25}},
      {"resnext",
       {.depth = 26, .groups = 32, .width_per_group = 4, .num_classes = 7}},
      {"eca_t",
       {.depth = 26,
        .num_classes = 7,
        .resnett_stem = true,
        .resnetd_shortcut = true,
        .eca = true}},
      {"blur_odd_side", {.depth = 18, .num_classes = 7, .blur_pool = true}, 66},
      {"gray", {.depth = 18, .num_classes = 7, .channels = 1}},
      {"four_channels", {.depth = 18, .num_classes = 7, .channels = 4}},
      {"lenet", {.kind = ModelKind::kLeNet, .num_classes = 10}, 28},
  };
}

}  // namespace infeed
