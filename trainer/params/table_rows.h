#pragma once

#include <span>
#include <string_view>

#include "trainer/params/table.h"

// Declarations that the table's files share.
namespace infeed {

inline Param Row(std::string_view name, OptionField<TrainParams> field,
                 OptionRange range, std::string_view unit,
                 std::string_view help, std::string_view when_not_given = {}) {
  return {{.name = name,
           .choices = field.choices,
           .range = range,
           .unit = unit,
           .help = help,
           .when_not_given = when_not_given},
          field.at};
}

// Marks a row whose flag --help shows.
inline Param Common(Param row) {
  row.is_common = true;
  return row;
}

// The rows of the group Learning.
[[nodiscard]] std::span<const Param> LearningParams();

}  // namespace infeed
