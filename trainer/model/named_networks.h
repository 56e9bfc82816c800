#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "trainer/model/options.h"

// Published networks by the names that torchvision and timm give them.
namespace infeed {

// The options that determine a network's layers, as a tuple of references.
template <typename Options>  // ModelOptions, perhaps const
[[nodiscard]] auto ShapeOf(Options& options) {
  return std::tie(options.kind, options.variant, options.depth, options.groups,
                  options.width_per_group, options.pre_activation,
                  options.small_stem, options.resnetd_stem,
                  options.resnett_stem, options.resnetd_shortcut,
                  options.replace_stem_max_pool, options.blur_pool,
                  options.se_ratio, options.eca);
}

// The library that defines a network; timm has torchvision's, too.
inline constexpr std::string_view kOfTorchvision = "torchvision";
inline constexpr std::string_view kOfTimm = "timm";

struct NamedNetwork {
  std::string_view name;     // "resnext50_32x4d"
  std::string_view library;  // kOfTorchvision or kOfTimm
  ModelOptions shape;        // other options have their defaults
};

[[nodiscard]] std::span<const NamedNetwork> NamedNetworks();

// Their names, "resnet18|resnet34|...".
[[nodiscard]] std::string_view NetworkNames();

// nullptr: there is no network of this name.
[[nodiscard]] const NamedNetwork* FindNetwork(std::string_view name);

// The network with these options' shape; nullptr: it has no name.
[[nodiscard]] const NamedNetwork* NetworkOf(const ModelOptions& options);

}  // namespace infeed
