#include "tools/records_writing_verbs.h"

namespace infeed {

void AddWritingVerbs(CLI::App& app, Command& command) {
  AddRepairVerb(app, command);
  AddReshardVerb(app, command);
}

}  // namespace infeed
