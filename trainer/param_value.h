#pragma once

#include <string>
#include <string_view>

#include "trainer/param_table.h"
#include "trainer/params.h"

namespace infeed {

// One parameter as the user wrote it.
struct ParamAssignment {
  std::string name;
  std::string value;
  std::string place;  // for messages: " (run.yaml, line 3)", or ""
};

// Reads the text as the parameter's type and stores it. Throws UsageError:
// "train_steps='abc': must be an integer", "keep_last=0: must be at least 1".
void SetParam(const Param& param, const ParamAssignment& assignment,
              TrainParams& params);

// Throws UsageError unless the text is the parameter's reference default.
void CheckUnsupported(const UnsupportedParam& param,
                      const ParamAssignment& assignment);

}  // namespace infeed
