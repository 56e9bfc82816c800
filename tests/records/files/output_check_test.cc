#include "records/files/output_check.h"

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::output_check_test {

namespace fs = std::filesystem;

class OutputCheckTest : public ::testing::Test {
 protected:
  OutputCheckTest() {
    fs::create_directories(folder_ / "data/train");
    for (const char* name : {"data/a", "data/dataset.json", "other"}) {
      WriteFileAtomically(folder_ / name, name);
    }
    fs::create_symlink("data/a", folder_ / "link");
    fs::create_hard_link(folder_ / "data/a", folder_ / "hard");
    fs::create_symlink("new", folder_ / "dangling");
    fs::create_directory_symlink("data", folder_ / "way");
  }

  // The message about these outputs; "" if they are fine.
  [[nodiscard]] std::string Check(const std::vector<std::string>& names) const {
    std::vector<NamedOutput> outputs;
    for (const std::string& name : names) {
      outputs.push_back(
          {"--flag" + std::to_string(outputs.size()),
           name.find('/') == 0 || name == "-" ? name : folder_ / name});
    }
    return MessageOf<UsageError>([&] {
      CheckOutputs(outputs, {folder_ / "data/a", "s3://b/a", ""});
    });
  }
  [[nodiscard]] std::string CheckFolder(const std::string& input) const {
    return MessageOf<UsageError>([&] {
      RefuseInputsIn({folder_ / "data", folder_ / "data/train"}, "--output",
                     {folder_ / input});
    });
  }

  const TemporaryFolder folder_;
};

TEST_F(OutputCheckTest, RefusesAnInputUnderAnyName) {
  for (const char* name : {"data/a", "data/../data/./a", "link", "hard",
                           "way/a", "way/dataset.json"}) {
    EXPECT_THAT(Check({name}),
                AllOf(HasSubstr("--flag0 "), HasSubstr("is the input")))
        << name;
  }
  EXPECT_EQ(MessageOf<UsageError>([&] {
              CheckOutputs({{"--page", "s3://b/a", true}}, {"s3://b/c"});
            }),
            "");
  EXPECT_THAT(MessageOf<UsageError>([&] {
                CheckOutputs({{"--page", "s3://b/c", true}}, {"s3://b/c"});
              }),
              HasSubstr("is the input s3://b/c"));
  EXPECT_EQ(Check({"other", "new", "data/b"}), "");
}

TEST_F(OutputCheckTest, RefusesTwoOutputsOfOneName) {
  for (const auto& [first, second] : {std::pair("new", "way/../new"),
                                      {"dangling", "new"},
                                      {"other", "other"}}) {
    EXPECT_THAT(Check({first, second}),
                HasSubstr("is also the file of --flag0"));
  }
  EXPECT_EQ(Check({"/dev/null", "/dev/null"}), "");
}

TEST_F(OutputCheckTest, AHyphenIsStdoutOrRefused) {
  const NamedOutput json = {
      .flag = "--json", .path = "-", .may_be_stdout = true};
  EXPECT_EQ(MessageOf<UsageError>([&] { CheckOutputs({json, json}, {}); }), "");
  EXPECT_EQ(MessageOf<UsageError>([&] {
              CheckOutputs({json, {"--html", "-"}}, {});
            }),
            "--html -: is not stdout: give a file (./- for one of that name), "
            "or /dev/stdout");
  EXPECT_EQ(MessageOf<UsageError>([] {
              CheckOutputs({{"--x", "./-"}}, {});
            }),
            "");
}

TEST_F(OutputCheckTest, RefusesSideFilesOfTheInputs) {
  for (const char* name : {"data/.infeed", "data/train", "deep/train/cat",
                           "deep/.infeed", "other/.infeed"}) {
    fs::create_directories((folder_ / "set/") + name);
  }
  const auto check = [&](const std::string& output, const std::string& input) {
    return MessageOf<UsageError>([&] {
      CheckOutputs({{"--html", (folder_ / "set/") + output}},
                   {(folder_ / "set/") + input});
    });
  };
  fs::create_directory_symlink("data/.infeed", folder_ / "set/side");
  for (const char* name :
       {"data/.infeed/a.index", "data/train/../.infeed/new", "side/a.index"}) {
    EXPECT_THAT(check(name, "data/a"),
                AllOf(HasSubstr("--html "),
                      HasSubstr("is among the side files of the input ")))
        << name;
    EXPECT_NE(check(name, "data/train/a"), "") << name;
    EXPECT_NE(check(name, "data"), "") << name;
  }
  EXPECT_NE(check("deep/.infeed/x", "deep/train/cat/1.jpg"), "");
  EXPECT_EQ(check("other/.infeed/x", "data/a"), "");
  EXPECT_NE(
      MessageOf<UsageError>([] {
        CheckOutputs({{"--page", "s3://b/d/.infeed/x", true}}, {"s3://b/d/a"});
      }),
      "");
  EXPECT_NE(MessageOf<UsageError>([] {
              CheckOutputs({{"--page", "S3://b/d/a", true}}, {"s3://b/d/a"});
            }),
            "");
}

TEST_F(OutputCheckTest, RefusesAUrlWhereAFileIsWritten) {
  for (const char* url : {"s3://b/x", "S3://b/x", "gs:/b/x", "https://h/x"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] {
                  CheckOutputs({{"--json", url}}, {});
                }),
                AllOf(HasSubstr("--json "), HasSubstr("is a URL")))
        << url;
  }
  EXPECT_EQ(
      MessageOf<UsageError>([] {
        CheckOutputs({{"--page", "s3://b/x", true}, {"--json", "s3:x"}}, {});
      }),
      "");
}

TEST_F(OutputCheckTest, NamesAFolderThatIsMissing) {
  EXPECT_THAT(
      MessageOf<IoError>([&] {
        RequireOutputFolders({{"--json", "-"}, {"--html", folder_ / "none/x"}});
      }),
      HasSubstr("none/x: cannot create: there is no folder " +
                (folder_ / "none")));
  RequireOutputFolders({{"--html", folder_ / "data/new"}, {"--json", "new"}});
}

TEST_F(OutputCheckTest, RefusesInputsInTheOutputFolder) {
  WriteFileAtomically(folder_ / "data/train/b", "b");
  for (const char* name : {"data", "data/a", "data/train/b", "way/a", "link"}) {
    EXPECT_THAT(CheckFolder(name), HasSubstr("lies in this folder")) << name;
  }
  fs::create_directories(folder_ / "data/raw/cat");
  for (const char* name : {"other", "data/raw/cat", "data/raw/cat/1.jpg"}) {
    EXPECT_EQ(CheckFolder(name), "") << name;
  }
}

TEST_F(OutputCheckTest, KnowsAFolderThatIsMountedTwice) {
  const std::string twin = folder_ / "twin";
  fs::create_directory(twin);
  if (::mount((folder_ / "data").c_str(), twin.c_str(), nullptr, MS_BIND,
              nullptr) != 0) {
    GTEST_SKIP() << "nothing can be mounted: " << std::strerror(errno);
  }
  EXPECT_THAT(MessageOf<UsageError>([&] {
                RefuseInputsIn({twin}, "--output", {folder_ / "data/a"});
              }),
              HasSubstr("lies in this folder"));
  ::umount(twin.c_str());
}

}  // namespace infeed::output_check_test
