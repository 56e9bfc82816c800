#include "pipeline/order/label_class.h"

#include <limits>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/store/index_data.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "tests/support/zip_builder.h"

namespace infeed::label_class_test {

TEST(ClassOfTest, CountsFromTheOffset) {
  const InputOptions from_0 = {.label_offset = 0, .num_label_classes = 3};
  const InputOptions from_1 = {.label_offset = 1, .num_label_classes = 3};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ClassOf(i, from_0), i);
    EXPECT_EQ(ClassOf(i + 1, from_1), i);
  }
}

TEST(ClassOfTest, SaysWhyThereIsNoClass) {
  const auto why = [](std::int64_t label, const InputOptions& options) {
    return MessageOf<DataError>([&] { (void)ClassOf(label, options); });
  };
  const InputOptions three = {.label_offset = 1, .num_label_classes = 3};
  EXPECT_EQ(why(0, three),
            "image/class/label 0 is below 1, the label of the first class "
            "(label_offset)");
  EXPECT_EQ(why(4, three),
            "class 3 is beyond the last of 3 classes, 2 (image/class/label 4, "
            "counted from 1)");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(why(kMost, three), HasSubstr("beyond the last"));
  EXPECT_THAT(why(kMost, {.label_offset = 0}), HasSubstr("fit 32 bits"));
  EXPECT_THAT(why(std::numeric_limits<std::int64_t>::min(), three),
              HasSubstr("is below 1"));
}

TEST(ClassOfTest, IsNoneWhereLabelsAreNotRequired) {
  const InputOptions options = {
      .label_offset = 1, .num_label_classes = 3, .require_labels = false};
  for (const int label : {-1, 0, 4}) {
    EXPECT_EQ(ClassOf(label, options), -1) << label;
  }
  EXPECT_EQ(ClassOf(3, options), 2);
}

// Each image would be of the class after its own.
TEST(RequireLabelOffsetTest, RefusesZeroWhereInfeedNumbersTheClasses) {
  ImageFolder raw;
  raw.Jpeg("cat/1.jpg").Jpeg("dog/2.jpg");
  const RecordIndex folder = IndexData(raw.path());
  const RecordIndex list =
      RecordIndex::OfImages({{.path = raw.path() + "/cat/1.jpg", .label = 1}});
  const TemporaryFolder archives;
  WriteFileAtomically(archives / "a.zip",
                      ZipBuilder()
                          .Add(StoredMember("cat/1.jpg", "C"))
                          .Add(StoredMember("dog/1.jpg", "D"))
                          .bytes());
  TarFile tar;
  tar.Add("cat/1.jpg", "C").Add("dog/1.jpg", "D");
  WriteFileAtomically(archives / "a.tar", tar.text());
  const RecordIndex zip({archives / "a.zip"});
  const RecordIndex tree({archives / "a.tar"});
  for (const RecordIndex* index : {&folder, &list, &zip, &tree}) {
    const auto resolved = [&](const InputOptions& options) {
      return *ResolvedOptions(options, *index).label_offset;
    };
    for (const int classes : {0, 1, 2}) {
      EXPECT_THAT(
          MessageOf<UsageError>([&] {
            (void)resolved({.label_offset = 0, .num_label_classes = classes});
          }),
          AllOf(HasSubstr("label_offset=0: the classes of " +
                          index->shards().front()),
                HasSubstr("leave label_offset out")));
    }
    EXPECT_EQ(resolved({}), 1);
    EXPECT_EQ(resolved({.label_offset = 1}), 1);
  }
  // With a background, as the reference's 1,001 classes.
  EXPECT_EQ(ResolvedOptions({.label_offset = 0, .num_label_classes = 3}, folder)
                .label_offset,
            0);
}

}  // namespace infeed::label_class_test
