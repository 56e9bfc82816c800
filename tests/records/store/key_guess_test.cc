#include "records/store/key_guess.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/example/builder.h"
#include "records/store/record_index.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace key_guess_test {

using Bytes = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;

constexpr std::string_view kJpeg = "\xff\xd8\xff\xe0";

RecordKeys KeysIn(const std::vector<ExampleFeature>& features,
                  const RecordKeys& given = {}) {
  const TemporaryFolder folder;
  const RecordIndex index({RecordFile()
                               .Add("no Example \xff")
                               .Add(BuildExample(features))
                               .Write(folder / "a.tfrecord")});
  return FindKeys(index, given);
}

TEST(KeyGuess, KnowsTensorFlowDatasets) {
  EXPECT_EQ(KeysIn({{"file_name", Bytes{"n01.JPEG"}},
                    {"image", Bytes{kJpeg}},
                    {"label", Numbers{3}}}),
            (RecordKeys{"image", "label"}));
}

TEST(KeyGuess, TakesTheOneFeatureThatIsAnImage) {
  EXPECT_EQ(KeysIn({{"jpeg", Bytes{kJpeg}},
                    {"class", Numbers{3}},
                    {"name", Bytes{"x"}}}),
            (RecordKeys{"jpeg", "class"}));
}

TEST(KeyGuess, TakesTheLabelOfTheObject) {
  EXPECT_EQ(KeysIn({{"image/encoded", Bytes{kJpeg}},
                    {"image/object/class/label", Numbers{3}}}),
            (RecordKeys{"image/encoded", "image/object/class/label"}));
}

TEST(KeyGuess, LeavesWhatIsThereOrGiven) {
  EXPECT_EQ(KeysIn({{"image/class/label", Numbers{1}},
                    {"image/encoded", Bytes{kJpeg}},
                    {"image", Bytes{kJpeg}},
                    {"label", Numbers{3}}}),
            RecordKeys());
  EXPECT_EQ(KeysIn({{"image", Bytes{kJpeg}}, {"label", Numbers{3}}},
                   {"photo", "class"}),
            (RecordKeys{"photo", "class"}));
}

TEST(KeyGuess, LeavesTheStandardKeysWhereNothingFits) {
  EXPECT_EQ(KeysIn({{"image", Bytes{"text"}}, {"label", Numbers{3, 4}}}),
            RecordKeys());
  const TemporaryFolder folder;
  EXPECT_EQ(FindKeys(RecordIndex({RecordFile().Write(folder / "empty")})),
            RecordKeys());
}

}  // namespace key_guess_test
}  // namespace infeed
