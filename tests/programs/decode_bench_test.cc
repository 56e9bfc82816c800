#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

class DecodeBenchTest : public testing::Test {
 protected:
  DecodeBenchTest() {
    WriteFileAtomically(folder_ / "a.jpg", TestJpeg());
    WriteFileAtomically(folder_ / "b.jpg", "no JPEG");
    WriteFileAtomically(folder_ / "c.jpg", TestJpeg({.progressive = true}));
  }

  [[nodiscard]] ProgramResult Run(const std::string& flags) const {
    return RunProgram("decode_bench",
                      folder_.path() + " --epochs 2 --repetitions 1 " + flags);
  }

  TemporaryFolder folder_;
};

TEST_F(DecodeBenchTest, PrintsATable) {
  const ProgramResult result = Succeeded(Run("--target PORTABLE"));
  EXPECT_THAT(result.out, HasSubstr("SIMD target PORTABLE, libjpeg-turbo "));
  EXPECT_THAT(result.out, HasSubstr("\n2 images, 2 windows each"));
  for (const char* what : {"whole image -> RGB", "no index", "row index",
                           "every 4th MCU", "packed 224x224 slot",
                           "slot, no index", "slot, row index", "making it"}) {
    EXPECT_THAT(result.out, HasSubstr(what));
  }
}

TEST_F(DecodeBenchTest, PrintsJson) {
  const ProgramResult result = Succeeded(Run("--json --images 1"));
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["images"], 1);
  for (const nlohmann::json& row : json["rows"]) {
    EXPECT_GT(row["ours_us"], 0) << row;
    EXPECT_LT(row["theirs_us"], 1e6) << row;
  }
}

TEST_F(DecodeBenchTest, SaysWhatIsWrong) {
  EXPECT_EQ(Run("--target MMX").exit_code, 2);
  const TemporaryFolder broken;
  WriteFileAtomically(broken / "b.jpg", "no JPEG");
  EXPECT_THAT(RunProgram("decode_bench", broken.path()).err,
              HasSubstr("none of the JPEGs can be decoded"));
}

}  // namespace
}  // namespace infeed
