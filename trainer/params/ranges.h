#pragma once

#include <span>
#include <string_view>

#include "trainer/params/table.h"

// What the tables of table_*.cc are written with, and where they meet.
namespace infeed {

inline constexpr double kMaxSteps = 1e12;
inline constexpr double kMaxImages = 0x1p32 - 1;  // what a sample order holds

constexpr ParamRange Between(double min, double max) {
  return {.min = min, .max = max, .choices = {}};
}
constexpr ParamRange BelowOne() {
  return {.min = 0, .max = 1, .max_is_open = true, .choices = {}};
}
constexpr ParamRange Positive() {
  return {.min = 0, .min_is_open = true, .choices = {}};
}
constexpr ParamRange NotNegative() { return {.min = 0, .choices = {}}; }
constexpr ParamRange OneOf(std::string_view choices) {
  return {.choices = choices};
}
constexpr ParamRange Any() { return {.choices = {}}; }

// The groups, in the order of --help and of params.yaml.
[[nodiscard]] std::span<const Param> ModelParams();
[[nodiscard]] std::span<const Param> DataParams();
[[nodiscard]] std::span<const Param> InputParams();
[[nodiscard]] std::span<const Param> RunLengthParams();
[[nodiscard]] std::span<const Param> OptimizerParams();

}  // namespace infeed
