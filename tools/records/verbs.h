#pragma once

namespace CLI {
class App;
}

// The verbs of the program `records`, each in VERB.cc. Results
// go to stdout, in the order of the shards; progress goes to stderr.
namespace infeed {

struct Command;

// Lists shards with their records, bytes and side files.
void AddLsVerb(CLI::App& app, Command& command);

// Prints the number of records of each shard, and the total.
void AddCountVerb(CLI::App& app, Command& command);

// Prints records as lines of JSON.
void AddCatVerb(CLI::App& app, Command& command);

// Shows the first records as a table.
void AddHeadVerb(CLI::App& app, Command& command);

// Checks every record, and prints the bad ones.
void AddVerifyVerb(CLI::App& app, Command& command);

// Prints statistics of a set of image records.
void AddStatsVerb(CLI::App& app, Command& command);

// Writes the images back to folders of classes.
void AddExtractVerb(CLI::App& app, Command& command);

// Makes the index files of shards.
void AddIndexVerb(CLI::App& app, Command& command);

}  // namespace infeed
