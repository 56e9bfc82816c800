#include "tools/cli/cloud_flags.h"

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/cli/flags.h"

namespace infeed {
namespace {

// Parses a command line and applies it.
CloudSettings Apply(std::vector<std::string> arguments) {
  CLI::App app("A tool.");
  CloudFlags flags;
  AddCloudFlags(app, flags);
  arguments.insert(arguments.begin(), "tool");
  ArgumentVector argv(std::move(arguments));
  EXPECT_TRUE(ParseFlags(app, argv.argc(), argv.argv()));
  ApplyCloudFlags(flags);
  return cloud_settings();
}

TEST(CloudFlagsTest, KeepTheDefaults) {
  const CloudSettings settings = Apply({});
  EXPECT_EQ(settings.cache_folder, "");
  EXPECT_EQ(settings.cache_bytes, CloudSettings().cache_bytes);
  EXPECT_EQ(settings.connections, CloudSettings().connections);
}

TEST(CloudFlagsTest, SetTheCacheAndTheConnections) {
  const CloudSettings settings =
      Apply({"--cache_dir=/tmp/c", "--cache-size", "2GiB", "--connections=4"});
  EXPECT_EQ(settings.cache_folder, "/tmp/c");
  EXPECT_EQ(settings.cache_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(settings.connections, 4);
}

TEST(CloudFlagsTest, TellTheWarningOnStderr) {
  const CloudSettings settings = Apply({});
  ::testing::internal::CaptureStderr();
  settings.on_warning("no cache");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warning: no cache\n");
}

TEST(CloudFlagsTest, RefuseWhatCannotBe) {
  EXPECT_THAT(MessageOf<UsageError>([] { (void)Apply({"--connections=0"}); }),
              HasSubstr("connections"));
  EXPECT_THAT(MessageOf<UsageError>(
                  [] { (void)Apply({"--cache_size=9223372036854775808"}); }),
              HasSubstr("--cache_size"));
}

}  // namespace
}  // namespace infeed
