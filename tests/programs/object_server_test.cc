#include "tests/support/object_server.h"

#include <string>

#include <gmock/gmock.h>

// The wrapper itself; what the server checks is in object_server_test.py.
namespace infeed {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(ObjectServerTest, KeepsWhatIsPutThere) {
  const ObjectServer server;
  const std::string bytes("a\0b", 3);
  server.Put("shards/folder/a%20b", bytes);
  EXPECT_EQ(server.Get("shards/folder/a%20b"), bytes);
  EXPECT_TRUE(server.Has("shards/folder/a%20b"));
  EXPECT_FALSE(server.Has("shards/folder"));
  EXPECT_THAT(server.Keys("shards"), ElementsAre("folder/a b"));
}

TEST(ObjectServerTest, DoesNotLogItsControlPaths) {
  const ObjectServer server;
  server.SetFaults(R"({"fault": "status", "status": 503, "next": 1})");
  EXPECT_THAT(server.log().requests, SizeIs(0));
}

TEST(ObjectServerDeathTest, ATypingErrorInAFaultPlanIsTold) {
  const ObjectServer server;
  EXPECT_DEATH(server.SetFaults(R"({"fault": "stal"})"), "stal");
}

}  // namespace
}  // namespace infeed
