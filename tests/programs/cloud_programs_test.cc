#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/test_jpeg.h"

// The programs on URLs, as users give them.
namespace infeed {
namespace {

class CloudProgramsTest : public CloudFixture {
 protected:
  CloudProgramsTest() {
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    for (int i = 0; i < 3; ++i) {
      Shard(i < 2 ? 0 : 1)
          .Add(BuildImagenetExample({.height = 17,
                                     .width = 31,
                                     .label = i + 1,
                                     .synset = "roses",
                                     .text = "",
                                     .filename = "a.jpg",
                                     .encoded = jpeg}));
    }
    for (const std::string folder :
         {"shards/data/", "gs-shards/data/", "plain/data/"}) {
      PutShards(folder);
    }
  }

  RecordFile& Shard(int i) { return i == 0 ? first_ : second_; }
  static std::string Name(int i) {
    return "train-0000" + std::to_string(i) + "-of-00002";
  }
  void PutShards(const std::string& folder) const {
    server_.Put(folder + Name(0), first_.bytes());
    server_.Put(folder + Name(1), second_.bytes());
  }
  // A folder of each kind, and what of it a user gives: a web server has no
  // lists.
  struct Place {
    std::string folder;
    std::string spec;
  };
  [[nodiscard]] std::vector<Place> Places() const {
    const std::string web = server_.url() + "/plain/data/";
    return {{"s3://shards/data/", "s3://shards/data/train-*"},
            {"gs://gs-shards/data/", "gs://gs-shards/data"},
            {web, web + Name(0) + "," + web + Name(1)}};
  }
  static ProgramResult Run(const std::string& verb, const std::string& spec) {
    return RunProgram("records", verb + " '" + spec + "'");
  }

  RecordFile first_;
  RecordFile second_;
};

TEST_F(CloudProgramsTest, VerbsTakeUrlsOfEveryStore) {
  for (const Place& place : Places()) {
    EXPECT_EQ(Succeeded(Run("count", place.spec)).out,
              place.folder + Name(0) + " 2\n" + place.folder + Name(1) +
                  " 1\ntotal 3\n");
  }
  const std::string pattern = "s3://shards/data/train-*";
  EXPECT_THAT(Run("cat --record 2", pattern).out,
              AllOf(StartsWith("{\"file\":\"s3://shards/data/" + Name(1) +
                               "\",\"record\":0,"),
                    HasSubstr("\"image/class/label\":3")));
  EXPECT_THAT(Run("stats", pattern).out, HasSubstr("records     3"));
}

}  // namespace
}  // namespace infeed
