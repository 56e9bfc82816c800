#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "trainer/params/params.h"

// The one table of parameters: from it come parsing, --help, --print_config,
// error messages and what docs/parameters.md is checked against.
namespace infeed {

// Which member of TrainParams a parameter is; says its type too.
using ParamField =
    std::variant<int TrainParams::*, std::int64_t TrainParams::*,
                 std::uint64_t TrainParams::*, double TrainParams::*,
                 bool TrainParams::*, std::string TrainParams::*>;

// What a value may be. Either choices, "a|b|c", or min <= value <= max.
struct ParamRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_is_open = false;  // min < value
  bool max_is_open = false;  // value < max
  std::string_view choices = {};
};

struct Param {
  std::string_view name;
  ParamField field;
  ParamRange range;
  std::string_view unit;  // "bytes" also reads 4GiB and the like
  std::string_view help;
  // What it is when it is not given, that is 0 or no text; empty: its default
  // counts.
  std::string_view when_not_given;
};

// What --help shows together.
struct ParamGroup {
  std::string_view title;
  std::span<const Param> params;
};

// A parameter of the reference that has no meaning here: it is read, and where
// it is not the reference's default a line says why it has no effect.
struct UnsupportedParam {
  std::string_view name;
  std::string_view default_text;
  std::string_view values;  // "a|b|c"; empty: a whole number from 1 on
  std::string_view why;
};
inline constexpr std::string_view kTruth = "true|false";

[[nodiscard]] std::span<const ParamGroup> ParamGroups();
// All of them.
[[nodiscard]] std::span<const Param> ParamTable();
[[nodiscard]] std::span<const UnsupportedParam> UnsupportedParams();

// The name of resnet_depth in older texts about the reference: an alias.
inline constexpr std::string_view kOldDepthName = "resnet_size";

// The parameter of a name or an alias; nullptr when there is none.
[[nodiscard]] const Param* FindParam(std::string_view name);
[[nodiscard]] const UnsupportedParam* FindUnsupportedParam(
    std::string_view name);

// As NearestName().
[[nodiscard]] std::string_view NearestParamName(std::string_view name);

// "integer", "number", "text", "true or false".
[[nodiscard]] std::string_view TypeText(const Param& param);
// A value as text that SetParam() reads back.
[[nodiscard]] std::string ValueText(const Param& param,
                                    const TrainParams& params);
// "4GiB", "512MiB", or a number where neither is exact.
[[nodiscard]] std::string BytesText(std::int64_t bytes);
// Whether it has a value; false where 0 or no text stands for "not given".
[[nodiscard]] bool IsGiven(const Param& param, const TrainParams& params);

}  // namespace infeed
