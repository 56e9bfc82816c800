#pragma once

namespace CLI {
class App;
}

// The verbs of the program `records`, each in VERB.cc. Results go to stdout, in
// the order of the shards; progress goes to stderr.
namespace infeed {

struct Command;
struct RewriteOptions;

void AddLsVerb(CLI::App& app, Command& command);
void AddCountVerb(CLI::App& app, Command& command);
void AddCatVerb(CLI::App& app, Command& command);
void AddHeadVerb(CLI::App& app, Command& command);
void AddVerifyVerb(CLI::App& app, Command& command);
void AddStatsVerb(CLI::App& app, Command& command);
void AddExtractVerb(CLI::App& app, Command& command);
void AddIndexVerb(CLI::App& app, Command& command);

// These write shards, except diff, which reads in the same way. None writes
// into a folder that it reads, and none leaves partial output.
void AddRepairVerb(CLI::App& app, Command& command);
void AddReshardVerb(CLI::App& app, Command& command);
void AddMergeVerb(CLI::App& app, Command& command);
void AddSplitVerb(CLI::App& app, Command& command);
void AddDiffVerb(CLI::App& app, Command& command);

// Adds the options shared by reshard and split.
void AddRewriteOptions(CLI::App* verb, RewriteOptions& options);

}  // namespace infeed
