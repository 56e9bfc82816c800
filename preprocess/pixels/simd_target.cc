#include "preprocess/pixels/simd_target.h"

#include <cstdint>

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "base/error.h"

namespace infeed {
namespace {

// Highway's masks have the best target in the lowest bit.
std::vector<std::int64_t> Bits(std::int64_t mask) {
  std::vector<std::int64_t> bits;
  for (; mask != 0; mask &= mask - 1) {
    bits.push_back(mask & -mask);
  }
  return bits;
}

// Highway compiles one of its two portable targets, depending on the compiler;
// our code is the same for both.
constexpr std::int64_t kPortable = HWY_SCALAR | HWY_EMU128;

std::string Name(std::int64_t target) {
  return (target & kPortable) != 0 ? "PORTABLE" : hwy::TargetName(target);
}

std::vector<std::string> Names(std::int64_t mask) {
  std::vector<std::string> names;
  for (const std::int64_t target : Bits(mask)) {
    names.push_back(Name(target));
  }
  return names;
}

// The targets of this CPU, whatever was chosen before.
std::int64_t SupportedMask() {
  static const std::int64_t mask =
      (hwy::SupportedTargets() | kPortable) & HWY_TARGETS;
  return mask;
}

std::int64_t& ChosenMask() {
  static std::int64_t mask = SupportedMask();
  return mask;
}

void Choose(std::int64_t mask) {
  ChosenMask() = mask;
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().Update(mask);
}

}  // namespace

std::vector<std::string> CompiledSimdTargets() { return Names(HWY_TARGETS); }

std::vector<std::string> SupportedSimdTargets() {
  return Names(SupportedMask());
}

std::string CurrentSimdTarget() { return Names(ChosenMask()).front(); }

void UseSimdTarget(std::string_view name) {
  if (name.empty()) {
    return Choose(SupportedMask());
  }
  std::string known;
  for (const std::int64_t target : Bits(SupportedMask())) {
    if (name == Name(target)) {
      return Choose(target);
    }
    known += (known.empty() ? "" : ", ") + Name(target);
  }
  throw UsageError("no SIMD target '" + std::string(name) +
                   "' on this CPU (there are: " + known + ")");
}

}  // namespace infeed
