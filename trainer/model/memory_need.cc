#include "trainer/model/memory_need.h"

#include <fmt/format.h>

namespace infeed {
namespace {

double MiB(std::int64_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

// "about 640 MiB for a training step of 64 images ..., up to ...".
std::string NeedText(const MemoryNeed& need) {
  std::string text = fmt::format(
      "about {:.0f} MiB{} for {} of {} images of {} x {} pixels in {}",
      MiB(need.device), need.on_gpu ? " on the GPU" : "", need.step,
      need.images, need.image_size.height, need.image_size.width,
      PrecisionText(need.precision));
  if (need.input > 0) {
    text += fmt::format(", up to {:.0f} MiB for the input", MiB(need.input));
  }
  if (need.processes > 1) {
    text += fmt::format(", in each of {} processes", need.processes);
  }
  return text;
}

std::string ThereText(const MemoryThere& there) {
  std::string text =
      fmt::format("{:.0f} MiB in this machine, {:.0f} MiB of them free",
                  MiB(there.machine), MiB(there.available));
  if (there.gpu > 0) {
    text += fmt::format("; {:.0f} MiB free on the GPU", MiB(there.gpu));
  }
  return text;
}

std::string Advice(const MemoryNeed& need) {
  return fmt::format(
      "lower {}, image_size or memory_limit{}{}", need.batch_parameter,
      need.in_parts ? ", raise gradient_accumulation_steps" : "",
      Has16Bits(need.precision) ? "" : ", or give precision=bfloat16");
}

}  // namespace

std::string MemoryNeedText(const MemoryNeed& need, const MemoryThere& there) {
  return NeedText(need) + "; " + ThereText(there);
}

std::string MemoryWarning(const MemoryNeed& need, const MemoryThere& there) {
  const bool fits =
      !NeverFits(need, there) && need.of_machine() <= there.available;
  if (fits || there.machine == 0) {
    return "";
  }
  return fmt::format(
      "memory may not suffice: {}, but there are {}; if it runs out, {}",
      NeedText(need), ThereText(there), Advice(need));
}

std::string MemoryRanOut(const MemoryNeed& need, const MemoryThere& there,
                         const std::string& refused) {
  return fmt::format(
      "out of memory: {} was refused; needed are {}, and there "
      "were {}; {}",
      refused, NeedText(need), ThereText(there), Advice(need));
}

}  // namespace infeed
