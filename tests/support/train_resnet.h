#pragma once

#include <wordexp.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "tests/support/run_program.h"
#include "tools/cli/flags.h"
#include "tools/cli/signals.h"
#include "tools/train_resnet/command.h"

#include "gtest/gtest.h"

namespace infeed {

// The words of a line as a shell makes them, with quotes and patterns of files.
inline std::vector<std::string> ShellWords(const std::string& line) {
  wordexp_t found{};
  Check(::wordexp(line.c_str(), &found, WRDE_NOCMD) == 0,
        "the line is one of plain words");
  std::vector<std::string> words(found.we_wordv,
                                 found.we_wordv + found.we_wordc);
  ::wordfree(&found);
  return words;
}

// RunProgram("train_resnet", arguments), but in this process, which has loaded
// LibTorch already: that takes a second. A launcher of ranks is still started.
inline ProgramResult RunTrainResnet(const std::string& arguments) {
  if (arguments.find("--local_ranks") != std::string::npos) {
    return RunProgram("train_resnet", arguments);
  }
  std::vector<std::string> words = ShellWords(arguments);
  words.insert(words.begin(), INFEED_PROGRAMS "/train_resnet");
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const CloudSettings of_test = cloud_settings();
  SetCloudSettings({});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ProgramResult result;
  result.exit_code =
      RunMain(static_cast<int>(words.size()), argv.data(), TrainResnet);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  ReleaseSignals();
  SetCloudSettings(of_test);
  return result;
}

// RunProgram(), but train_resnet in this process.
inline ProgramResult RunHere(const std::string& program,
                             const std::string& arguments) {
  return program == "train_resnet" ? RunTrainResnet(arguments)
                                   : RunProgram(program, arguments);
}

}  // namespace infeed
