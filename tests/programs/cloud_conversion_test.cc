#include <signal.h>

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"

// The converter's uploads, against a store that checks them.
namespace infeed {
namespace {

constexpr std::int64_t kMaxShardBytes = 1 << 20;

class CloudConversionTest : public CloudFixture {
 protected:
  CloudConversionTest() { raw_.JpegsIn("cat", 12).JpegsIn("dog", 12); }

  [[nodiscard]] std::string Out() const { return raw_ / "out"; }
  [[nodiscard]] std::vector<std::string> Arguments(
      const std::string& url) const {
    return {"--raw_data_dir=" + raw_.path(), "--local_scratch_dir=" + Out(),
            "--shards=4", "--project=tests", "--gcs_output_path=" + url};
  }
  [[nodiscard]] ProgramResult Convert(const std::string& url) const {
    std::string line;
    for (const std::string& argument : Arguments(url)) {
      line += " '" + argument + "'";
    }
    return RunProgram("imagenet_to_records", line);
  }
  // Every shard here is an object there, byte for byte.
  void ExpectUploaded(const std::string& place) const {
    const std::vector<std::string> shards = FindSplit(Out(), "train");
    ASSERT_THAT(shards, SizeIs(4));
    for (const std::string& shard : shards) {
      const std::string name = shard.substr(shard.rfind('/') + 1);
      EXPECT_TRUE(server_.Get(place + name) ==
                  ReadWholeFile(shard, kMaxShardBytes))
          << name;
    }
  }

  ImageFolder raw_;
};

TEST_F(CloudConversionTest, ARefusalIsToldAndTheSameCommandGoesOn) {
  server_.SetFaults(
      R"({"fault": "status", "status": 403, "method": "PUT", "skip": 2})");
  EXPECT_THAT(Convert("s3://shards/set"),
              Ends(1, AllOf(HasSubstr("s3://shards/set/train-"),
                            HasSubstr("403"), Not(HasSubstr(kS3SecretKey)))));
  EXPECT_THAT(server_.Keys("shards"), SizeIs(2));  // A shard and its index.
  server_.SetFaults("");
  server_.ClearLog();
  ASSERT_EQ(Convert("s3://shards/set").exit_code, 0);
  ExpectUploaded("shards/set/");
  EXPECT_EQ(server_.log().Count("PUT"), 8);
}

TEST_F(CloudConversionTest, AnUploadThatIsKilledGoesOnWithTheSameCommand) {
  server_.SetFaults(
      R"({"fault": "silence", "seconds": 600, "method": "PUT", "skip": 2})");
  {
    RunningProgram program("imagenet_to_records", Arguments("s3://shards/set"));
    ASSERT_TRUE(program.ReadUntil("1/4 shards uploaded")) << program.err();
    program.Signal(SIGKILL);
    EXPECT_EQ(program.Wait(), 128 + SIGKILL);
  }
  EXPECT_THAT(server_.Keys("shards"),
              UnorderedElementsAre(
                  "set/" + ShardName("train", 0, 4),
                  "set/.infeed/" + ShardName("train", 0, 4) + ".index"));
  server_.SetFaults("");
  ASSERT_EQ(Convert("s3://shards/set").exit_code, 0);
  ExpectUploaded("shards/set/");
  EXPECT_THAT(server_.OpenUploads(), IsEmpty());
}

}  // namespace
}  // namespace infeed
