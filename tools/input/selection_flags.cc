#include "tools/input/selection_flags.h"

#include <CLI/CLI.hpp>

#include "tools/cli/help_text.h"

namespace infeed {

void AddSelectionFlags(CLI::App& app, SelectionChoice& choice) {
  const FlagGroup group(app, "Selection", Shown::kInHelpAll);
  app.add_option("--subset", choice.subset,
                 "File with the numbers of the records to use, from 0: a "
                 "number or a range such as 100-199 per line.")
      ->type_name("FILE");
  app.add_option("--classes", choice.classes,
                 "Classes whose records are used: names from dataset.json, or "
                 "labels as stored in records.")
      ->type_name("A,B");
  app.add_option(
         "--class_weights", choice.class_weights,
         "File with a class and its weight, its share of an epoch, per line; "
         "or balanced: the same share for every class.")
      ->type_name("FILE");
  app.add_option(
         "--sample_weights", choice.sample_weights,
         "File with a weight per line for every record: how often it is used.")
      ->type_name("FILE");
  app.add_option("--mix", choice.mix,
                 "Data sets to mix, each with its share of an epoch.")
      ->type_name("DIR=W,...");
  app.add_option("--epoch_records", choice.epoch_records,
                 "Records of an epoch; 0: as many as are selected.")
      ->capture_default_str();
}

}  // namespace infeed
