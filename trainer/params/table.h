#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/options/option_text.h"
#include "trainer/params/train_params.h"

// The one table of parameters. Parsing, --help, --print_config, error messages
// and the check of docs/options.md all use it. Parameters of the input are
// rows of the input's own table (pipeline/options/input_table.h).
namespace infeed {

struct InputOption;

// The identities that a parameter is part of: a checkpoint is not resumed with
// another one.
enum class IdentityPart {
  kNone,     // may change when a run resumes, or is the input's
  kNetwork,  // the network's, also where the shapes of tensors do not show it
  kTeacher,  // that of a run with distill_from
};

// Of a parameter that is not at its default: what another one must be.
struct ParamCondition {
  enum class Kind {
    kNeeds,     // not at its default, either
    kOnlyWith,  // one of the values
    kNotFor,    // none of the values
  };
  Kind kind;
  std::string_view other;
  std::string_view values = {};  // "a|b"
};

struct Param : OptionInfo {
  std::function<OptionRef(TrainParams&)> at;
  IdentityPart identity = IdentityPart::kNone;
  std::vector<ParamCondition> conditions = {};
  // Another value can give other training batches (InputOption's column; and
  // what decides which records are bad, or takes their place).
  bool affects_batches = false;
  // Another value gives other inputs of the network from the same batches.
  bool changes_on_device = false;

  // Columns that few rows have, each a copy of the row with that column.
  [[nodiscard]] Param OfNetwork() const { return With(IdentityPart::kNetwork); }
  [[nodiscard]] Param OfTeacher() const { return With(IdentityPart::kTeacher); }
  [[nodiscard]] Param OfBatches() const {
    Param row = *this;
    row.affects_batches = true;
    return row;
  }
  [[nodiscard]] Param OnDevice() const {
    Param row = *this;
    row.changes_on_device = true;
    return row;
  }
  [[nodiscard]] Param Needs(std::string_view other) const {
    return With({ParamCondition::Kind::kNeeds, other});
  }
  [[nodiscard]] Param OnlyWith(std::string_view other,
                               std::string_view values) const {
    return With({ParamCondition::Kind::kOnlyWith, other, values});
  }
  [[nodiscard]] Param NotFor(std::string_view other,
                             std::string_view values) const {
    return With({ParamCondition::Kind::kNotFor, other, values});
  }

  // The field, to read it alone.
  [[nodiscard]] OptionRef AtConst(const TrainParams& params) const {
    return at(const_cast<TrainParams&>(params));
  }

 private:
  [[nodiscard]] Param With(IdentityPart part) const {
    Param row = *this;
    row.identity = part;
    return row;
  }
  [[nodiscard]] Param With(ParamCondition condition) const {
    Param row = *this;
    row.conditions.push_back(condition);
    return row;
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

// The name of the parameter whose field, of these params, this is.
[[nodiscard]] std::string_view NameOf(const TrainParams& params,
                                      const void* field);

// The name of the parameter that is this option of the input. Requires: there
// is one.
[[nodiscard]] std::string_view NameOfInput(const InputOption& option);

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

// Throws UsageError, "A=1 and B=2: REASON", for values that are each valid but
// exclude each other. Parameters that are not given are not checked.
// PlanResNet() checks whether the model can be built.
void CheckTogether(const TrainParams& params);

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

[[nodiscard]] std::span<const UnsupportedParam> UnsupportedParams();
// The unsupported parameter with this name; nullptr when there is none.
[[nodiscard]] const UnsupportedParam* FindUnsupportedParam(
    std::string_view name);

// The message to print about a value that has no effect; nullopt for the
// reference's default. Throws UsageError for a value that the reference rejects
// too, or for which it would behave differently.
[[nodiscard]] std::optional<std::string> NoteOnUnsupported(
    const UnsupportedParam& param, const OptionAssignment& given);

}  // namespace infeed
