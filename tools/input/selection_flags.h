#pragma once

#include "pipeline/order/selection_choice.h"

namespace CLI {
class App;
}

namespace infeed {

// Adds the flags that select an epoch's records, in the group "Selection".
void AddSelectionFlags(CLI::App& app, SelectionChoice& choice);

}  // namespace infeed
