#include "tools/records/writing_verbs.h"

namespace infeed {

void AddWritingVerbs(CLI::App& app, Command& command) {
  AddRepairVerb(app, command);
  AddReshardVerb(app, command);
  AddMergeVerb(app, command);
  AddSplitVerb(app, command);
  AddDiffVerb(app, command);
}

}  // namespace infeed
