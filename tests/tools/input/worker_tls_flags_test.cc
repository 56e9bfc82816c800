#include <string>

#include <CLI/CLI.hpp>

#include "tests/support/argument_vector.h"
#include "tools/cli/flags.h"
#include "tools/input/input_flags.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(WorkerTlsFlagsTest, SetTheFilesUnderThePrefix) {
  for (const std::string& prefix : {std::string(), std::string("worker_")}) {
    CLI::App app;
    TlsFiles files;
    AddWorkerTlsFlags(app, prefix, files);
    ArgumentVector argv({"program", "--" + prefix + "tls_cert=a.pem",
                         "--" + prefix + "tls_key=a.key",
                         "--" + prefix + "tls_ca=ca.pem"});
    ASSERT_TRUE(ParseFlags(app, argv.argc(), argv.argv()));
    EXPECT_EQ(files,
              (TlsFiles{.cert = "a.pem", .key = "a.key", .ca = "ca.pem"}));
  }
}

}  // namespace
}  // namespace infeed
