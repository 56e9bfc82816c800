// Photographs in an object store give the batches that files give.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "records/http/url.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed::cloud_forms_test {

namespace fs = std::filesystem;

class CloudFormsTest : public CloudFixture {
 protected:
  // Puts a file, or what is in a folder, into the bucket under a name.
  void Upload(const std::string& path, const std::string& name) const {
    constexpr std::int64_t kMaxBytes = 8 << 20;
    if (fs::is_regular_file(path)) {
      server_.Put("shards/" + PercentEncode(name, Slashes::kKeep),
                  ReadWholeFile(path, kMaxBytes));
      return;
    }
    for (const auto& entry : fs::directory_iterator(path)) {
      Upload(entry.path().string(),
             name + "/" + entry.path().filename().string());
    }
  }

  static std::string Hash(const std::string& data) {
    const ProgramResult result = RunProgram(
        "pipeline_throughput",
        "--data_dir " + data +
            " --split train --hash 4 --batch_size 8 --image_size 16");
    EXPECT_EQ(result.exit_code, 0) << data << result.err;
    return result.out;
  }

  TemporaryFolder cache_;
  EnvironmentVariable cache_home_{"XDG_CACHE_HOME", cache_.path()};
  PhotographForms forms_;
};

TEST_F(CloudFormsTest, CloudFormsHaveTheBatchesOfTheFiles) {
  Upload(forms_.images(), "images");
  Upload(forms_.tars(), "tars");
  Upload(forms_.zip(), "photos.zip");
  const std::string expected = Hash(forms_.shards());
  for (const char* data :
       {"s3://shards/images", "s3://shards/tars", "s3://shards/photos.zip",
        "s3://shards/tars/train-{000000..000000}.tar"}) {
    EXPECT_EQ(Hash(data), expected) << data;
  }
}

TEST_F(CloudFormsTest, CloudFormsAreIndexedOnce) {
  Upload(forms_.tars(), "tars");
  EXPECT_THAT(RunProgram("records", "ls s3://shards/tars").out,
              HasSubstr("none"));
  EXPECT_THAT(RunProgram("records", "ls s3://shards/tars").out,
              HasSubstr("fresh"));
}

}  // namespace infeed::cloud_forms_test
