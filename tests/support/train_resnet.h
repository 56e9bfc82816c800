#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shell_word.h"
#include "records/cloud/cloud_settings.h"
#include "tests/support/argument_vector.h"
#include "tests/support/run_program.h"
#include "tools/cli/flags.h"
#include "tools/cli/signals.h"
#include "tools/train_resnet/command.h"

#include "gtest/gtest.h"

namespace infeed {

// While it exists, this process has the streams and the cloud settings that
// RunProgram() gives a program; then the result has what was printed.
class ProgramStart {
 public:
  explicit ProgramStart(ProgramResult& result) : result_(result) {
    Check(std::freopen("/dev/null", "r", stdin) != nullptr,
          "/dev/null can be read");
    SetCloudSettings({});
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  ~ProgramStart() {
    result_.out = testing::internal::GetCapturedStdout();
    result_.err = testing::internal::GetCapturedStderr();
    ReleaseSignals();
    SetCloudSettings(of_test_);
  }
  ProgramStart(const ProgramStart&) = delete;
  ProgramStart& operator=(const ProgramStart&) = delete;

 private:
  ProgramResult& result_;
  const CloudSettings of_test_ = cloud_settings();
};

// Whether the program starts ranks or is one: it must be a process of its own,
// as a rank other than 0 prints nothing from then on.
inline bool HasRanks(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    const std::string flag = word.substr(0, word.find('='));
    return flag == "--local_ranks" || flag == "--rank" ||
           flag == "--world_size";
  });
}

// RunProgram("train_resnet", arguments), but in this process, which has loaded
// LibTorch already: that takes a second. Programs with ranks are started.
inline ProgramResult RunTrainResnet(std::vector<std::string> words) {
  if (HasRanks(words)) {
    std::string line;
    for (const std::string& word : words) {
      line += ShellWord(word) + " ";
    }
    return RunProgram("train_resnet", line);
  }
  words.insert(words.begin(), INFEED_PROGRAMS "/train_resnet");
  ArgumentVector argv(std::move(words));
  ProgramResult result;
  {
    const ProgramStart start(result);
    result.exit_code = RunMain(argv.argc(), argv.argv(), TrainResnet);
  }
  return result;
}
inline ProgramResult RunTrainResnet(const std::string& arguments) {
  return RunTrainResnet(ShellWords(arguments));
}

// RunProgram(), but train_resnet in this process.
inline ProgramResult RunHere(const std::string& program,
                             const std::string& arguments) {
  return program == "train_resnet" ? RunTrainResnet(arguments)
                                   : RunProgram(program, arguments);
}

}  // namespace infeed
