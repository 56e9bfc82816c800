#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "records/http/url.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/run_program.h"

// The converter reads from a store what it reads from folders, and makes the
// same of it.
namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = 8 << 20;

class CloudImagesTest : public CloudFixture {
 protected:
  CloudImagesTest() {
    for (const char* name : {"ant", "bee", "cat"}) {
      raw_.JpegsIn(name, 9);
    }
  }

  void Upload(const std::string& bucket = "shards") { Upload(raw_, bucket); }
  // Puts the files of a folder into a bucket under raw/.
  void Upload(const ImageFolder& raw, const std::string& bucket) const {
    for (const auto& entry : fs::recursive_directory_iterator(raw.path())) {
      if (entry.is_regular_file()) {
        const std::string path = entry.path().string();
        server_.Put(bucket + "/raw/" +
                        PercentEncode(path.substr(raw.path().size() + 1),
                                      Slashes::kKeep),
                    ReadWholeFile(path, kMaxBytes));
      }
    }
  }

  [[nodiscard]] std::string Out(const std::string& name) const {
    return out_ / name;
  }
  // Converts into a folder of that name.
  [[nodiscard]] ProgramResult Convert(const std::string& name,
                                      const std::string& flags) const {
    return RunProgram(
        "imagenet_to_records",
        "--local_scratch_dir=" + Out(name) + " --shards=3 " + flags);
  }

  // The files of a conversion that readers use, by name.
  [[nodiscard]] std::map<std::string, std::string> Made(
      const std::string& name) const {
    return FilesIn(Out(name));
  }

  // Expects that flags with files and with objects give equal shards.
  void ExpectTheSame(const std::string& local, const std::string& remote) {
    ASSERT_THAT(Convert("files", local), Ends(0));
    const ProgramResult from_objects = Succeeded(Convert("objects", remote));
    EXPECT_GE(Made("files").size(), 5U);
    EXPECT_TRUE(Made("objects") == Made("files")) << from_objects.out;
  }

  ImageFolder raw_;
  TemporaryFolder out_;
};

TEST_F(CloudImagesTest, ATreeOfObjectsMakesTheSameShards) {
  raw_.File("class_names.txt", "bee a honey bee\n");
  raw_.File("cat/odd name %2f.jpg", TestJpeg({.width = 9, .height = 9}));
  raw_.File("cat/.hidden.jpg", "x").File("cat/notes.txt", "x");
  Upload("gs-shards");
  ExpectTheSame("--split=reference --raw_data_dir=" + raw_.path(),
                "--split=reference --raw_data_dir=gs://gs-shards/raw");
}

TEST_F(CloudImagesTest, AnImageIsOneRequest) {
  Upload();
  server_.ClearLog();
  ASSERT_EQ(Convert("out", "--raw_data_dir=s3://shards/raw/").exit_code, 0);
  const RequestLog log = server_.log();
  const auto ranged = std::count_if(
      log.requests.begin(), log.requests.end(),
      [](const LoggedRequest& request) { return !request.range.empty(); });
  EXPECT_EQ(ranged, 27);
  // The root, three classes; three names of texts that are not there.
  EXPECT_EQ(log.Count("GET") - ranged, 4);
  EXPECT_EQ(log.Count("HEAD"), 3);
}

TEST_F(CloudImagesTest, ImagesOnTheirWayAreFetchedSideBySide) {
  Upload();
  server_.SetFaults(R"({"fault": "stall", "seconds": 0.1, "path": "jpg$"})");
  server_.ClearLog();
  ASSERT_EQ(Convert("out",
                    "--raw_data_dir=s3://shards/raw --threads=1 "
                    "--connections=8")
                .exit_code,
            0);
  EXPECT_GT(server_.log().peak_requests, 4);
}

TEST_F(CloudImagesTest, ImagenetsLabelFileIsReadFromTheStore) {
  ImageFolder raw;
  raw.JpegsIn("train/n1", 4).JpegsIn("train/n2", 4).JpegsIn("validation", 3);
  raw.File("synset_labels.txt", "n2\nn1\nn2\n")
      .File("LOC_synset_mapping.txt", "n1 one\nn2 two\n");
  Upload(raw, "shards");
  ExpectTheSame("--raw_data_dir=" + raw.path(),
                "--raw_data_dir=s3://shards/raw");
}

TEST_F(CloudImagesTest, FoldersOfAllKindsAreUnited) {
  Upload();
  ImageFolder more;
  more.JpegsIn("cow", 4).Jpeg("ant/100.jpg");
  ExpectTheSame(
      "--raw_data_dir=" + raw_.path() + "," + more.path(),
      "--raw_data_dir=" + more.path() + " --raw_data_dir=s3://shards/raw");
}

TEST_F(CloudImagesTest, FinishedShardsAreKeptUntilAnObjectChanges) {
  const std::string jpeg = TestJpeg({.width = 16, .height = 8});
  raw_.File("bee/tail.jpg", jpeg + "x");
  Upload();
  const std::string flags = "--raw_data_dir=s3://shards/raw";
  ASSERT_EQ(Convert("out", flags).exit_code, 0);
  server_.ClearLog();
  EXPECT_THAT(Convert("out", flags).out,
              HasSubstr("3 shards of an earlier run were kept"));
  EXPECT_EQ(server_.log().Count("GET"), 4);  // the lists
  server_.Put("shards/raw/bee/tail.jpg", jpeg + "y");
  EXPECT_THAT(Convert("out", flags).out,
              HasSubstr("2 shards of an earlier run were kept"));
  EXPECT_THAT(Convert("out", flags).out,
              HasSubstr("3 shards of an earlier run were kept"));
}

TEST_F(CloudImagesTest, ABadImageIsNamedByItsUrl) {
  raw_.File("bee/bad.jpg", "not a JPEG");
  Upload();
  EXPECT_THAT(Convert("out", "--raw_data_dir=s3://shards/raw"),
              Ends(3, HasSubstr("s3://shards/raw/bee/bad.jpg")));
}

TEST_F(CloudImagesTest, DuplicatesAreFoundInTheStore) {
  raw_.File("bee/twin.jpg", ReadWholeFile(raw_ / "ant/000.jpg", kMaxBytes));
  Upload();
  const ProgramResult result = Convert(
      "out", "--raw_data_dir=s3://shards/raw --report_duplicates --dry_run");
  EXPECT_THAT(result.out, AllOf(HasSubstr("s3://shards/raw/bee/twin.jpg"),
                                HasSubstr("1 group of duplicates")));
}

TEST_F(CloudImagesTest, AManifestMayLieAnywhereAndNameObjects) {
  raw_.File("images.csv",
            "path,label,split\nant/000.jpg,a,train\nbee/001.jpg,b,train\n"
            "./cat/../cat/002.jpg,c,train\nant/003.jpg,a,test\n");
  Upload();
  ExpectTheSame("--manifest=" + (raw_ / "images.csv"),
                "--manifest=s3://shards/raw/images.csv");
  const std::string files = out_ / "files.csv";
  WriteFileAtomically(
      files, "path,label,split\ns3://shards/raw/ant/000.jpg,a,train\n" +
                 (raw_ / "bee/001.jpg") +
                 ",b,train\ncat/002.jpg,c,train\nant/003.jpg,a,test\n");
  ASSERT_THAT(Convert("mixed", "--manifest=" + files +
                                   " --raw_data_dir=s3://shards/raw"),
              Ends(0));
  EXPECT_EQ(Made("mixed")["labels.txt"], Made("files")["labels.txt"]);
}

TEST_F(CloudImagesTest, AManifestsWebFilesAreReadByTheirDecodedNames) {
  const std::string secret = "signature=0123456789";
  server_.Put("plain/a%20b.jpg", TestJpeg({.width = 16, .height = 8}));
  const std::string manifest = out_ / "web.csv";
  const std::string url = server_.url() + "/plain/a%20b.jpg?" + secret;
  WriteFileAtomically(manifest, "path,label\n" + url + ",a\n");
  ASSERT_EQ(Convert("web", "--manifest=" + manifest).exit_code, 0);
  const std::string shard =
      ReadWholeFile(Out("web") + "/" + ShardName("train", 0, 1), kMaxBytes);
  EXPECT_THAT(shard, AllOf(HasSubstr("a b.jpg"), Not(HasSubstr(secret))));
  WriteFileAtomically(manifest, "path,label\n" + url + "&x=1,a\n" +
                                    server_.url() + "/plain/none.jpg?" +
                                    secret + ",a\n");
  EXPECT_THAT(Convert("none", "--manifest=" + manifest),
              Ends(1, AllOf(HasSubstr("line 3"), HasSubstr("none.jpg"),
                            Not(HasSubstr(secret)))));
}

TEST_F(CloudImagesTest, RawFilesAreReadFromTheStore) {
  ImageFolder raw;
  raw.File("train-images-idx3-ubyte.gz",
           Gzipped(IdxBytes({4, 8, 8}, Counting(256))))
      .File("train-labels-idx1-ubyte", IdxBytes({4}, {"\1\0\3\3", 4}))
      .File("t10k-images-idx3-ubyte", IdxBytes({2, 8, 8}, Counting(128, 9)))
      .File("t10k-labels-idx1-ubyte", IdxBytes({2}, {"\1\0", 2}));
  raw.File("data_batch_1.bin", CifarRecord(3) + CifarRecord(1, 5))
      .File("test_batch.bin", CifarRecord(2, 7))
      .File("class_names.txt", "3 three\n");
  Upload(raw, "shards");
  const std::string remote = " --raw_data_dir=s3://shards/raw";
  ExpectTheSame("--raw_format=idx --raw_data_dir=" + raw.path(),
                "--raw_format=idx" + remote);
  EXPECT_THAT(Convert("objects", "--raw_format=idx" + remote).out,
              HasSubstr("kept"));
  server_.Put("shards/raw/t10k-labels-idx1-ubyte", IdxBytes({2}, {"\1\1", 2}));
  server_.Put("shards/raw/train-images-idx3-ubyte.gz",
              Gzipped(IdxBytes({4, 8, 8}, Counting(256, 1))));
  EXPECT_THAT(Convert("objects", "--raw_format=idx" + remote).out,
              HasSubstr("1 shard of an earlier run was kept"));
}

}  // namespace
}  // namespace infeed
