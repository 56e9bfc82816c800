#pragma once

namespace CLI {
class App;
}

// The verbs of the program `records` that write shards, each in
// VERB.cc. None writes into the folder that it reads, and none
// leaves half of anything.
namespace infeed {

struct Command;
struct RewriteOptions;

// Adds all of them.
void AddWritingVerbs(CLI::App& app, Command& command);

// Parts good records from damage.
void AddRepairVerb(CLI::App& app, Command& command);

// Writes a set of shards as more, fewer, or shuffled ones.
void AddReshardVerb(CLI::App& app, Command& command);

// Compares two sets of shards. It writes nothing, and shares the reading.
void AddDiffVerb(CLI::App& app, Command& command);

// Writes the records of many shards into one file.
void AddMergeVerb(CLI::App& app, Command& command);

// Cuts a set of shards into parts.
void AddSplitVerb(CLI::App& app, Command& command);

// Adds what reshard and split share.
void AddRewriteOptions(CLI::App* verb, RewriteOptions& options);

}  // namespace infeed
