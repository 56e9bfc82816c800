#pragma once

#include <span>
#include <string_view>

// Named sets of parameters: the layer above the defaults.
namespace infeed {

struct Preset {
  std::string_view name;
  std::string_view values;  // as --params_override takes them
  // The preset that provides the values not listed here; "": none.
  std::string_view base = {};
};

[[nodiscard]] std::span<const Preset> Presets();

// By its name. Throws UsageError for an unknown name, listing the known ones.
[[nodiscard]] const Preset& FindPreset(std::string_view name);

// The names, "tpu_reference|mlperf|...".
[[nodiscard]] std::string_view PresetNames();

}  // namespace infeed
