#include "preprocess/augment/policy.h"

#include "base/choices.h"

namespace infeed {
namespace {

using enum AugmentOp;

constexpr Choices<AugmentOp, kAugmentOps> kNames = {{
    {"AutoContrast", kAutoContrast},
    {"Equalize", kEqualize},
    {"Invert", kInvert},
    {"Rotate", kRotate},
    {"Posterize", kPosterize},
    {"Solarize", kSolarize},
    {"SolarizeAdd", kSolarizeAdd},
    {"Color", kColor},
    {"Contrast", kContrast},
    {"Brightness", kBrightness},
    {"Sharpness", kSharpness},
    {"ShearX", kShearX},
    {"ShearY", kShearY},
    {"TranslateX", kTranslateX},
    {"TranslateY", kTranslateY},
    {"Cutout", kCutout},
}};

constexpr std::array<SubPolicy, 25> kAutoAugment = {{
    {{{kEqualize, 0.8F, 1}, {kShearY, 0.8F, 4}}},
    {{{kColor, 0.4F, 9}, {kEqualize, 0.6F, 3}}},
    {{{kColor, 0.4F, 1}, {kRotate, 0.6F, 8}}},
    {{{kSolarize, 0.8F, 3}, {kEqualize, 0.4F, 7}}},
    {{{kSolarize, 0.4F, 2}, {kSolarize, 0.6F, 2}}},
    {{{kColor, 0.2F, 0}, {kEqualize, 0.8F, 8}}},
    {{{kEqualize, 0.4F, 8}, {kSolarizeAdd, 0.8F, 3}}},
    {{{kShearX, 0.2F, 9}, {kRotate, 0.6F, 8}}},
    {{{kColor, 0.6F, 1}, {kEqualize, 1.0F, 2}}},
    {{{kInvert, 0.4F, 9}, {kRotate, 0.6F, 0}}},
    {{{kEqualize, 1.0F, 9}, {kShearY, 0.6F, 3}}},
    {{{kColor, 0.4F, 7}, {kEqualize, 0.6F, 0}}},
    {{{kPosterize, 0.4F, 6}, {kAutoContrast, 0.4F, 7}}},
    {{{kSolarize, 0.6F, 8}, {kColor, 0.6F, 9}}},
    {{{kSolarize, 0.2F, 4}, {kRotate, 0.8F, 9}}},
    {{{kRotate, 1.0F, 7}, {kTranslateY, 0.8F, 9}}},
    {{{kShearX, 0.0F, 0}, {kSolarize, 0.8F, 4}}},
    {{{kShearY, 0.8F, 0}, {kColor, 0.6F, 4}}},
    {{{kColor, 1.0F, 0}, {kRotate, 0.6F, 2}}},
    {{{kEqualize, 0.8F, 4}, {kEqualize, 0.0F, 8}}},
    {{{kEqualize, 1.0F, 4}, {kAutoContrast, 0.6F, 2}}},
    {{{kShearY, 0.4F, 7}, {kSolarizeAdd, 0.6F, 7}}},
    {{{kPosterize, 0.8F, 2}, {kSolarize, 0.6F, 10}}},
    {{{kSolarize, 0.6F, 8}, {kEqualize, 0.6F, 1}}},
    {{{kColor, 0.8F, 6}, {kRotate, 0.4F, 5}}},
}};

}  // namespace

std::string_view AugmentOpName(AugmentOp op) { return ChoiceName(op, kNames); }

AugmentOp ParseAugmentOp(std::string_view name) {
  return ParseChoice("operation", name, kNames);
}

std::span<const SubPolicy> AutoAugmentPolicy() { return kAutoAugment; }

}  // namespace infeed
