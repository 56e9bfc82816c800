#include <string>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/dataset_info.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/served_object.h"
#include "tests/support/throws.h"
#include "tests/support/upload_store.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

// dataset.json beside shards in a bucket.
class DatasetInfoUrlTest : public ::testing::Test {
 protected:
  std::optional<DatasetInfo> Read(LoopbackServer::Handler handler) {
    const LoopbackServer server(std::move(handler));
    environment_.Set("AWS_ENDPOINT_URL", server.url());
    SetCloudSettings({});
    return ReadDatasetInfo("s3://b/d");
  }
  CloudEnvironment environment_;
};

TEST_F(DatasetInfoUrlTest, IsWrittenAndRead) {
  UploadStore store;
  const LoopbackServer server(store.handler());
  environment_.Set("AWS_ENDPOINT_URL", server.url());
  SetCloudSettings({});
  WriteDatasetInfo("s3://b/d/", {.seed = 7, .classes = {"a"}, .splits = {}});
  const auto info = Read(ServeObject(store.Get("/b/d/dataset.json")));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->seed, 7);
}

TEST_F(DatasetInfoUrlTest, NeedNotBeThere) {
  EXPECT_FALSE(Read(InTurn({{"HTTP/1.1 404 x\r\n\r\n"}})));
}

TEST_F(DatasetInfoUrlTest, IsLimited) {
  EXPECT_THAT(
      MessageOf<IoError>([&] {
        (void)Read(InTurn(
            {{"HTTP/1.1 200 x\r\nContent-Length: 999999999999\r\n\r\n"}}));
      }),
      HasSubstr("s3://b/d/dataset.json: has 999999999999 bytes, more than"));
}

}  // namespace
}  // namespace infeed
