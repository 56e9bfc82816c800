#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "trainer/params/params.h"

// The one table of parameters. Parsing, --help, --print_config, error messages
// and the check of docs/parameters.md all use it.
namespace infeed {

// The member of TrainParams that holds a parameter; also defines its type.
using ParamField =
    std::variant<int TrainParams::*, std::int64_t TrainParams::*,
                 std::uint64_t TrainParams::*, double TrainParams::*,
                 bool TrainParams::*, std::string TrainParams::*>;

// The values allowed: either choices, "a|b|c", or min <= value <= max.
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
  // What applies when the parameter is not given (its value is 0 or ""). Empty:
  // there is no such rule, and the default is a value like any other.
  std::string_view when_not_given;
};

// Parameters that --help prints under one title.
struct ParamGroup {
  std::string_view title;
  std::span<const Param> params;
};

// A parameter of the reference that has no meaning here. It is read, and if its
// value is not the reference's default, a line is printed with the reason why
// it has no effect.
struct UnsupportedParam {
  std::string_view name;
  std::string_view default_text;
  std::string_view values;  // "a|b|c"; empty: a whole number from 1 on
  std::string_view why;
};
inline constexpr std::string_view kTruth = "true|false";

[[nodiscard]] std::span<const ParamGroup> ParamGroups();
// The parameters of all groups.
[[nodiscard]] std::span<const Param> ParamTable();
[[nodiscard]] std::span<const UnsupportedParam> UnsupportedParams();

// An alias of resnet_depth, from older texts about the reference.
inline constexpr std::string_view kOldDepthName = "resnet_size";

// The parameter with this name or alias; nullptr when there is none.
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
// Whether the parameter has a value; false where 0 or "" means "not given".
[[nodiscard]] bool IsGiven(const Param& param, const TrainParams& params);

}  // namespace infeed
