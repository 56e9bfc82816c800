// Photographs give one stream, whether in a folder, tars, a zip or TFRecords.

#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "records/store/index_data.h"
#include "tests/support/environment_variable.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace stream_forms_test {

struct FormsCase {
  const char* split;
  InputOptions options;
};

TEST(StreamFormsTest, AreOneStream) {
  const TemporaryFolder cache;
  const EnvironmentVariable cache_home("XDG_CACHE_HOME", cache.path());
  const PhotographForms forms;
  for (FormsCase one :
       {FormsCase{"train", {.threads = 1}},
        FormsCase{
            "train",
            {.preprocess = {.recipe = Recipe::kTorchvision}, .threads = 3}},
        FormsCase{"train", {.shuffle = Shuffle::kNone, .threads = 2}},
        FormsCase{"validation", {.training = false, .threads = 2}}}) {
    one.options.batch_size = 8;
    one.options.preprocess.image_size = 16;
    one.options.on_bad_record = OnBadRecord::kFail;
    const auto stream = [&](const std::string& data) {
      return Stream(IndexSplitThatIsThere(data, one.split), one.options, 12);
    };
    const std::vector<BatchCopy> expected = stream(forms.shards());
    for (const std::string& data : forms.all()) {
      EXPECT_EQ(stream(data), expected) << data << " " << one.split;
    }
  }
}

}  // namespace stream_forms_test
}  // namespace infeed
