#include "pipeline/stats/bad_record.h"

#include "base/choices.h"

namespace infeed {
namespace {

constexpr Choices<BadRecordKind, 5> kKinds = {
    {{"frame", BadRecordKind::kFrame},
     {"example", BadRecordKind::kExample},
     {"label", BadRecordKind::kLabel},
     {"image", BadRecordKind::kImage},
     {"warning", BadRecordKind::kWarning}}};
constexpr Choices<BadRecordAction, 4> kActions = {
    {{"failed", BadRecordAction::kFailed},
     {"replaced", BadRecordAction::kReplaced},
     {"skipped", BadRecordAction::kSkipped},
     {"used", BadRecordAction::kUsed}}};

}  // namespace

std::string_view BadRecordKindName(BadRecordKind kind) {
  return ChoiceName(kind, kKinds);
}

std::string_view BadRecordActionName(BadRecordAction action) {
  return ChoiceName(action, kActions);
}

}  // namespace infeed
