#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/order/option_text.h"
#include "trainer/params/train_params.h"

// The one table of parameters. Parsing, --help, --print_config, error messages
// and the check of docs/parameters.md all use it. Parameters of the input are
// rows of the input's own table (pipeline/order/input_table.h).
namespace infeed {

struct Param : OptionInfo {
  std::function<OptionRef(TrainParams&)> at;

  // The field, to read it alone.
  [[nodiscard]] OptionRef AtConst(const TrainParams& params) const {
    return at(const_cast<TrainParams&>(params));
  }
};

// Parameters that --help prints under one title.
struct ParamGroup {
  std::string_view title;
  std::span<const Param> params;
};

[[nodiscard]] std::span<const ParamGroup> ParamGroups();
// The parameters of all groups.
[[nodiscard]] std::span<const Param> ParamTable();

// An alias of resnet_depth, from older texts about the reference.
inline constexpr std::string_view kOldDepthName = "resnet_size";

// The parameter with this name or alias; nullptr when there is none.
[[nodiscard]] const Param* FindParam(std::string_view name);

// The known parameter name nearest to a misspelled one (NearestName()).
[[nodiscard]] std::string_view NearestParamName(std::string_view name);

[[nodiscard]] const TrainParams& DefaultParams();

// Sets the parameter as SetOption() does; null stands for the default.
void SetParam(const Param& param, const OptionAssignment& given,
              TrainParams& params);

// The functions of option_text.h for a parameter.
[[nodiscard]] inline std::string ValueText(const Param& param,
                                           const TrainParams& params) {
  return ValueText(param, param.AtConst(params));
}
[[nodiscard]] inline bool IsGiven(const Param& param,
                                  const TrainParams& params) {
  return IsGiven(param, param.AtConst(params));
}
[[nodiscard]] inline std::string DefaultText(const Param& param) {
  return DefaultText(param, param.AtConst(DefaultParams()));
}
[[nodiscard]] inline std::string_view TypeText(const Param& param) {
  return TypeText(param.AtConst(DefaultParams()));
}

}  // namespace infeed
