#include "tools/train_resnet/storage_flags.h"

#include <CLI/CLI.hpp>

namespace infeed {

void AddStorageFlags(CLI::App& app, StorageFlags& flags) {
  constexpr int kMostSeconds = 1 << 20;
  app.add_option("--local_scratch_dir", flags.local_scratch_dir,
                 "Folder for copies of URLs. [~/.cache/infeed/runs]")
      ->type_name("DIR");
  app.add_option_function<int>(
         "--upload_timeout",
         [&flags](int seconds) {
           flags.upload_timeout = std::chrono::seconds(seconds);
         },
         "Wait for uploads at the end of the run. [300]")
      ->check(CLI::Range(0, kMostSeconds).description(""))
      ->type_name("SECONDS");
}

}  // namespace infeed
