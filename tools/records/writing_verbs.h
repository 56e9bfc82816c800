#pragma once

namespace CLI {
class App;
}

// The verbs of the program `records` that write shards, each in VERB.cc. None
// writes into a folder that it reads, and none leaves partial output.
namespace infeed {

struct Command;
struct RewriteOptions;

// Adds all verbs below.
void AddWritingVerbs(CLI::App& app, Command& command);

// Recovers the good records of damaged shards.
void AddRepairVerb(CLI::App& app, Command& command);

// Writes a set of shards as more, fewer, or shuffled ones.
void AddReshardVerb(CLI::App& app, Command& command);

// Compares two sets of shards. It writes nothing, but reads like the others.
void AddDiffVerb(CLI::App& app, Command& command);

// Writes the records of many shards into one file.
void AddMergeVerb(CLI::App& app, Command& command);

// Splits a set of shards into parts.
void AddSplitVerb(CLI::App& app, Command& command);

// Adds the options shared by reshard and split.
void AddRewriteOptions(CLI::App* verb, RewriteOptions& options);

}  // namespace infeed
