#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/program_end.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

#include "gtest/gtest.h"

namespace infeed {

// What a verb printed, and how it ended.
struct VerbResult {
  ExitCode code = ExitCode::kDone;
  std::string out;
  std::string err;
};

// Captures what this process prints as long as it exists.
class CapturedVerb {
 public:
  explicit CapturedVerb(VerbResult& result) : result_(result) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  ~CapturedVerb() {
    result_.out = testing::internal::GetCapturedStdout();
    result_.err = testing::internal::GetCapturedStderr();
  }
  CapturedVerb(const CapturedVerb&) = delete;
  CapturedVerb& operator=(const CapturedVerb&) = delete;

 private:
  VerbResult& result_;
};

// Runs a line of the program `records`, "VERB FLAGS PATHS", in this process.
// What the verb throws reaches the test.
inline VerbResult RunVerb(const std::string& line) {
  CLI::App app;
  Command command;
  for (auto* const add :
       {AddCatVerb, AddCountVerb, AddDiffVerb, AddExtractVerb, AddHeadVerb,
        AddIndexVerb, AddLsVerb, AddMergeVerb, AddRepairVerb, AddReshardVerb,
        AddSplitVerb, AddStatsVerb, AddVerifyVerb}) {
    add(app, command);
  }
  app.parse(line);
  VerbResult result;
  {
    const CapturedVerb captured(result);
    result.code = command.run().code;
  }
  return result;
}

}  // namespace infeed
