#include "bench/engine/hashed_stream.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/choices.h"
#include "pipeline/order/stream_state.h"
#include "records/example/builder.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// The first batches of ten records, in batches of four.
class HashedStreamTest : public ::testing::Test {
 protected:
  HashedStreamTest() {
    options_.batch_size = 4;
    options_.preprocess.image_size = 16;
  }

  HashedStream Hash(std::int64_t batches, const StreamPosition& start = {}) {
    return HashStream(shards_.index(), options_, start, batches);
  }

  auto Order(std::int64_t batches) {
    return RecordsOfBatches(shards_.index(), options_, batches);
  }

  TestShards shards_{TestPayloads(10)};
  InputOptions options_;
};

TEST_F(HashedStreamTest, HashIsTheSameForAnyThreads) {
  // Ten batches reach over four epochs.
  options_.threads = 1;
  const std::string hash = Hash(10).hash;
  EXPECT_THAT(hash, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(Hash(9).hash, hash);
  options_.threads = 3;
  EXPECT_EQ(Hash(10).hash, hash);
}

TEST_F(HashedStreamTest, FieldsAndBoxesAreInTheHash) {
  const auto shards = [](std::int64_t token, float edge) {
    std::vector<std::string> payloads = TestPayloads(10);
    for (std::string& payload : payloads) {
      payload += ExtraInt64s("ids", {1, token}) +
                 ExtraFloats("objects/bbox", {0, 0, edge, 1}) +
                 ExtraInt64s("objects/label", {1});
    }
    return TestShards(payloads);
  };
  const TestShards plain = shards(2, 1);
  const TestShards other_ids = shards(3, 1);
  const TestShards other_boxes = shards(2, 0.5F);
  const auto hash = [&](const TestShards& data) {
    return HashStream(data.index(), options_, {}, 4).hash;
  };
  // Without fields and objects they are not read.
  EXPECT_EQ(hash(other_ids), hash(plain));
  EXPECT_EQ(hash(other_boxes), hash(plain));
  options_.fields = {{.key = "ids"}};
  EXPECT_NE(hash(other_ids), hash(plain));
  options_.fields[0].shape = std::vector<std::int64_t>{2};
  EXPECT_NE(hash(other_ids), hash(plain));
  options_.fields = {};
  options_.objects = ObjectsPreset("tfds");
  EXPECT_NE(hash(other_boxes), hash(plain));
  const std::string whole = hash(plain);
  options_.threads = 3;
  EXPECT_EQ(hash(plain), whole);
}

TEST_F(HashedStreamTest, StateContinuesTheStream) {
  const std::string state = Hash(3).state;
  EXPECT_THAT(state, HasSubstr("\"batch_size\": 4"));
  const HashedStream rest =
      Hash(2, ResumePosition(state, shards_.index(), options_));
  EXPECT_NE(rest.hash, Hash(2).hash);
  // Two batches make an epoch.
  EXPECT_THAT(rest.state,
              AllOf(HasSubstr("\"epoch\": 2"), HasSubstr("\"position\": 4")));
}

TEST_F(HashedStreamTest, NamesTheFirstBadRecord) {
  EXPECT_EQ(Hash(10).first_bad_record, "");
  TestShards damaged(TestPayloads(10));
  damaged.Damage(3);
  EXPECT_THAT(HashStream(damaged.index(), options_, {}, 10).first_bad_record,
              HasSubstr("train-0000"));
}

TEST_F(HashedStreamTest, ListsTheRecordsOfARanksBatches) {
  options_.shuffle = Shuffle::kNone;
  options_.rank = 1;
  options_.world_size = 2;
  // The epoch ends before the third batch.
  EXPECT_THAT(Order(3), ElementsAre(ElementsAre(2, 3), ElementsAre(6, 7),
                                    ElementsAre(2, 3)));
  options_.rank_share = RankShare::kStrided;
  EXPECT_THAT(Order(3), ElementsAre(ElementsAre(1, 3), ElementsAre(5, 7),
                                    ElementsAre(1, 3)));
}

TEST_F(HashedStreamTest, ListsAllRecordsOfAnEvaluation) {
  options_.training = false;
  EXPECT_THAT(Order(9),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7),
                          ElementsAre(8, 9)));
}

// torch.randperm(10) after torch.manual_seed(0).
TEST_F(HashedStreamTest, ListsTheOrderOfTorch) {
  options_.shuffle = Shuffle::kTorch;
  EXPECT_THAT(Order(2),
              ElementsAre(ElementsAre(4, 1, 7, 5), ElementsAre(3, 9, 0, 8)));
}

// A record for each file of an image, in the order of their labels.
RecordFile RecordsOf(const std::vector<std::string>& images) {
  RecordFile file;
  std::int64_t label = 0;
  for (const std::string& image : images) {
    const std::string jpeg =
        ReadWholeFile(INFEED_TEST_DATA "/" + image, 1 << 20);
    const std::vector<ExampleFeature> features = {
        {kImageKey, std::vector<std::string_view>{jpeg}},
        {kLabelKey, std::vector<std::int64_t>{++label}}};
    file.Add(BuildExample(features));
  }
  return file;
}

// tests/data/README.md says how that engine's were made.
TEST(DefaultStreamsTest, AreThoseOfTheEngineBeforeFieldsBoxesAndViews) {
  const auto golden = nlohmann::ordered_json::parse(
      std::ifstream(INFEED_TEST_DATA "/default_streams.json"));
  const TemporaryFolder folder;
  const RecordIndex index(
      {RecordsOf(golden.at("images")).Write(folder / "train-00000-of-00001")});
  std::string state;
  for (const auto& stream : golden.at("streams")) {
    SCOPED_TRACE(stream.dump());
    InputOptions options;
    options.batch_size = 4;
    options.training = stream.at("training");
    options.seed = 7;
    options.layout = stream.at("layout") == "rgb" ? BatchContent::kRgb
                                                  : BatchContent::kPixels;
    options.preprocess.image_size = 32;
    options.preprocess.recipe =
        ParseChoice("recipe", std::string(stream.at("recipe")), kRecipes);
    const HashedStream made = HashStream(index, options, {}, 3);
    EXPECT_EQ(made.hash, stream.at("hash"));
    state = state.empty() ? made.state : state;
  }
  auto without_fingerprint = nlohmann::ordered_json::parse(state);
  EXPECT_EQ(without_fingerprint.erase("fingerprint"), 1U);
  EXPECT_EQ(without_fingerprint.dump(2), golden.at("state").dump(2));
}

}  // namespace
}  // namespace infeed
