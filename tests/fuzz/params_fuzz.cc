#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "pipeline/options/option_text.h"
#include "trainer/params/params.h"
#include "trainer/params/parse.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

// Sets what is known, as a run does, and reads the values' text again.
void SetAll(const std::vector<OptionAssignment>& assignments) {
  TrainParams params;
  for (const OptionAssignment& given : assignments) {
    const Param* const param = FindParam(given.name);
    if (param == nullptr) {
      (void)NearestParamName(given.name);
      continue;
    }
    SetParam(*param, given, params);
    const OptionAssignment again = {
        .name = given.name, .value = ValueText(*param, params), .place = ""};
    SetParam(*param, again, params);
    Check(ValueText(*param, params) == again.value,
          "a value's text gives the value");
  }
}

}  // namespace
}  // namespace infeed

// The first byte chooses between the text of a file and that of an override.
// An override that is neither list nor map names a file: none is opened here.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with('=')) {
      infeed::SetAll(
          infeed::ParseOverride("a=1," + std::string(text.substr(1))));
    } else {
      infeed::SetAll(infeed::ParseParamYaml(text, "fuzz.yaml"));
    }
  } catch (const infeed::UsageError&) {
    // What a user reads of a text that is wrong.
  }
  return 0;
}
