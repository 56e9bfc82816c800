#include "tools/cli/cloud_flags.h"

#include <CLI/CLI.hpp>

#include "base/print_lines.h"
#include "records/bytes/byte_size.h"
#include "tools/cli/help_text.h"

namespace infeed {
namespace {

constexpr const char* kGroup = "Cloud";

}  // namespace

void AddCloudFlags(CLI::App& app, CloudFlags& flags) {
  const FlagGroup group(app, kGroup, Shown::kInHelpAll);
  app.add_option("--cache_dir", flags.cache_dir,
                 "Folder for local copies of whole shards of s3://, gs:// and "
                 "http(s)://.")
      ->type_name("DIR");
  app.add_option("--cache_size", flags.cache_size,
                 "Disk space for the copies in cache_dir.")
      ->type_name("SIZE")
      ->capture_default_str();
  AddConnectionsFlag(app, flags);
}

void AddConnectionsFlag(CLI::App& app, CloudFlags& flags) {
  const FlagGroup group(app, kGroup, Shown::kInHelpAll);
  app.add_option("--connections", flags.connections,
                 "Simultaneous connections to stores in the cloud.")
      ->capture_default_str();
}

void ApplyCloudFlags(const CloudFlags& flags) {
  CloudSettings settings;
  settings.retry.stop = cloud_settings().retry.stop;
  settings.cache_folder = flags.cache_dir;
  settings.cache_bytes = ParseByteSize(flags.cache_size, "--cache_size");
  settings.connections = flags.connections;
  settings.on_warning = [](const std::string& text) {
    PrintLine("warning: " + text);
  };
  SetCloudSettings(std::move(settings));
}

}  // namespace infeed
