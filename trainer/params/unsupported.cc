#include "trainer/params/unsupported.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

const UnsupportedParam kUnsupported[] = {
    {"use_tpu", "true", kTruth,
     "there is no TPU here, --device chooses the device"},
    {"num_cores", "8", "",
     "each process drives one device; --local_ranks or a launcher sets their "
     "number"},
    {"transpose_input", "true", kTruth,
     "the layout in memory is chosen here, the fastest for the device"},
    {"data_format", "channels_last", "channels_last|channels_first",
     "the layout in memory is chosen here, channels_last for every model"},
    {"device_resize", "false", kTruth, "workers resize all images"},
    {"autotune", "false", kTruth,
     "the defaults are as fast as what it found: a thread for each core"},
    {"norm_act_layer", "bn_relu", "bn_relu", "EvoNorm is not implemented"},
};

// Whether two texts mean the same null, truth value, number or text.
bool SameValue(std::string_view a, std::string_view b) {
  const std::optional<double> number = ParseNumber(b);
  if (number) {
    return ParseNumber(a) == number;
  }
  if (ParseTruth(b)) {
    return ParseTruth(a) == ParseTruth(b);
  }
  return IsNull(b) ? IsNull(a) || a.empty() : a == b;
}

// Whether a parameter without effect may have this value: see UnsupportedParam.
bool IsUnsupportedValue(std::string_view values, std::string_view text) {
  if (values == kTruth) {
    return ParseTruth(text).has_value();
  }
  const std::optional<ScalarInteger> count = ParseInteger(text);
  return values.empty() ? count && count->magnitude > 0 && !count->negative
                        : IsChoice(values, text);
}

}  // namespace

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const UnsupportedParam* FindUnsupportedParam(std::string_view name) {
  const UnsupportedParam* const found =
      std::ranges::find(kUnsupported, name, &UnsupportedParam::name);
  return found == std::end(kUnsupported) ? nullptr : found;
}

std::optional<std::string> NoteOnUnsupported(const UnsupportedParam& param,
                                             const OptionAssignment& given) {
  if (IsNull(given.value) || SameValue(given.value, param.default_text)) {
    return std::nullopt;
  }
  if (!IsUnsupportedValue(param.values, given.value)) {
    throw UsageError(fmt::format(
        "{}='{}': must be {}{}", given.name, given.value,
        param.values.empty() ? "at least 1" : ChoicesText(param.values),
        given.place));
  }
  return fmt::format("{}={} has no effect: {}{}", given.name, given.value,
                     param.why, given.place);
}

}  // namespace infeed
