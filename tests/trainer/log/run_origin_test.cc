#include "trainer/log/run_origin.h"

#include <cstdio>
#include <memory>

#include "tests/support/matchers.h"
#include "trainer/params/parse.h"

namespace infeed {
namespace {

// The words into which a shell splits a text, one per line.
std::string WordsByShell(const std::string& text) {
  const std::string command = "printf '%s\\n' " + text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      ::popen(command.c_str(), "r"), ::pclose);
  std::string words;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    words += static_cast<char>(c);
  }
  return words;
}

TEST(CommandTextTest, AShellReadsTheCommandBack) {
  EXPECT_EQ(WordsByShell(CommandText({"train_resnet", "--data_dir", "my data",
                                      "--resume=it's $HOME `x` \"y\" *", ""})),
            "train_resnet\n--data_dir\nmy data\n"
            "--resume=it's $HOME `x` \"y\" *\n\n");
  EXPECT_EQ(CommandText({"a", "--b=c/d.e,f=1"}), "a --b=c/d.e,f=1");
}

TEST(CommandTextTest, TheCommandIsOneLineWithoutSecrets) {
  EXPECT_EQ(CommandText({"a\nb", "--x=https://u:p@h/y?Signature=z"}),
            "'a?b' '--x=https://h/y?...'");
}

TEST(EnvironmentTextTest, HasWhatDecidesAndNothingElse) {
  const char* const variables[] = {"WORLD_SIZE=4",
                                   "HOME=/home/me",
                                   "OMP_NUM_THREADS=2",
                                   "INFEED_DATA_DIR=https://h/x?sig=1",
                                   "INFEED_HTTP_BEARER_TOKEN=abc",
                                   "INFEED_RANK_TOKEN=abc",
                                   "AWS_SECRET_ACCESS_KEY=def",
                                   "SLURM_PROCID=1",
                                   "SLURM_JWT=ghi",
                                   nullptr};
  EXPECT_EQ(
      EnvironmentText(variables),
      "'INFEED_DATA_DIR=https://h/x?...' INFEED_HTTP_BEARER_TOKEN=... "
      "INFEED_RANK_TOKEN=... OMP_NUM_THREADS=2 SLURM_PROCID=1 WORLD_SIZE=4");
}

TEST(YamlCommentsTest, CommentsAreNotParameters) {
  const std::string comments =
      YamlComments({{"command", CommandText({"a", "seed: 7\nimage_size: 8"})},
                    {"environment", std::string(100'000, 'x')}});
  EXPECT_THAT(comments, HasSubstr("# command: a 'seed: 7?image_size: 8'\n"));
  EXPECT_LT(comments.size(), 5000U);
  EXPECT_EQ(ParseParamYaml(comments + "seed: 1\n", "").size(), 1U);
}

}  // namespace
}  // namespace infeed
