// Conversions of images with boxes.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/reader.h"
#include "records/files/shards.h"
#include "records/tfrecord/reader.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/grey_png.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"
#include "tools/convert/converter.h"
#include "tools/images/coco.h"
#include "tools/images/voc.h"
#include "tools/images/yolo.h"

namespace infeed::converter_objects_test {

// The values of a feature as text: "1 2.5", "a b".
std::string TextOf(const ExampleFeature& feature) {
  std::string text;
  const auto add = [&](const std::string& value) {
    text.append(text.empty() ? "" : " ").append(value);
  };
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, std::vector<std::string_view>>) {
          for (const std::string_view value : values) {
            add(std::string(value));
          }
        } else if constexpr (!std::is_same_v<Values, std::monostate>) {
          for (const auto value : values) {
            std::string number = std::to_string(value);
            if (number.find('.') != std::string::npos) {
              number.erase(number.find_last_not_of('0') + 1);
            }
            add(number);
          }
        }
      },
      feature.values);
  return text;
}

using Features = std::map<std::string, std::string>;

// A conversion of images of 16 x 8 pixels.
class ObjectConversionTest : public ::testing::Test {
 protected:
  // The features of all records of train, in their order.
  std::vector<Features> Convert(ImageTree tree,
                                const ConverterOptions& options = {}) {
    (void)infeed::Convert(PlanConversion(std::move(tree), {.shards = 1}),
                          out_.path(), options,
                          [](const ConversionProgress&) {});
    std::vector<Features> records;
    for (const std::string& shard : FindSplit(out_.path(), "train")) {
      TfrecordReader reader(shard);
      while (const auto payload = reader.Next()) {
        Features& record = records.emplace_back();
        for (const ExampleFeature& feature : ListFeatures(payload->payload)) {
          record[std::string(feature.key)] = TextOf(feature);
        }
      }
    }
    return records;
  }

  // A file of one image of this size, with a box and a crowd.
  ImageTree Coco(int width, int height) {
    raw_.File("train.json",
              R"({"images": [{"id": 7, "file_name": "a.jpg", "width": )" +
                  std::to_string(width) + R"(, "height": )" +
                  std::to_string(height) + R"(}], "annotations": [
      {"id": 1, "image_id": 7, "category_id": 18, "bbox": [1, 2, 3.5, 4],
       "area": 12.5, "iscrowd": 0},
      {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 2],
       "area": 4, "iscrowd": 1}],
    "categories": [{"id": 1, "name": "person"}, {"id": 18, "name": "dog"}]})");
    return ReadCoco({raw_ / "train.json"}, raw_.path(), {});
  }
  void TurnedJpeg(const std::string& name, int orientation) {
    raw_.File(name, WithOrientation(TestJpeg({.width = 16, .height = 8}),
                                    orientation));
  }

  ImageFolder raw_;
  TemporaryFolder out_;
};

TEST_F(ObjectConversionTest, StoresBoxesInPixelsBesideTheImage) {
  raw_.Jpeg("a.jpg");
  const auto records = Convert(Coco(16, 8), {.seek_index = SeekEntries::kNone});
  ASSERT_EQ(records.size(), 1U);
  Features record = records.front();
  EXPECT_EQ(record["image/encoded"],
            ReadWholeFile(raw_ / "a.jpg", std::int64_t{1} << 20));
  record.erase("image/encoded");
  EXPECT_EQ(record, (Features{{"image/channels", "3"},
                              {"image/colorspace", "RGB"},
                              {"image/filename", "a.jpg"},
                              {"image/format", "JPEG"},
                              {"image/height", "8"},
                              {"image/object/area", "12.5 4."},
                              {"image/object/bbox", "1. 2. 4.5 6. 0. 0. 2. 2."},
                              {"image/object/class/label", "18 1"},
                              {"image/object/class/text", "dog person"},
                              {"image/object/is_crowd", "0 1"},
                              {"image/source_id", "7"},
                              {"image/width", "16"}}));
}

TEST_F(ObjectConversionTest, StoresAMaskByteForByteAndDifficultObjects) {
  const std::string mask = GreyPng({8, 16}, std::vector<std::uint8_t>(8 * 16));
  raw_.Jpeg("JPEGImages/a.jpg")
      .File("SegmentationClass/a.png", mask)
      .File("Annotations/a.xml",
            "<annotation><object><name>cow</name><difficult>1</difficult>"
            "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>7</ymax>"
            "</bndbox></object></annotation>");
  Features record = Convert(ReadVoc(raw_.path(), {})).at(0);
  EXPECT_EQ(record["image/segmentation/class/encoded"], mask);
  EXPECT_EQ(record["image/segmentation/class/format"], "png");
  EXPECT_EQ(record["image/object/difficult"], "1");
  EXPECT_EQ(record["image/object/bbox"], "1. 2. 9. 7.");
  EXPECT_EQ(record["image/source_id"], "a");
}

TEST_F(ObjectConversionTest, RefusesAMaskThatIsNotOfTheImage) {
  raw_.Jpeg("JPEGImages/a.jpg")
      .File("Annotations/a.xml", "<annotation></annotation>");
  const auto says = [&](const std::string& mask) {
    raw_.File("SegmentationClass/a.png", mask);
    return MessageOf<DataError>(
        [&] { (void)Convert(ReadVoc(raw_.path(), {})); });
  };
  EXPECT_THAT(says(GreyPng({16, 8}, std::vector<std::uint8_t>(16 * 8))),
              AllOf(HasSubstr("JPEGImages/a.jpg: the mask "),
                    HasSubstr("SegmentationClass/a.png has 8x16 pixels, the "
                              "image 16x8")));
  EXPECT_THAT(says("any bytes"),
              HasSubstr("SegmentationClass/a.png is not a PNG"));
}

TEST_F(ObjectConversionTest, TurnsYolosPartsIntoPixels) {
  raw_.Jpegs({"images/a.jpg", "images/b.jpg"})
      .File("labels/a.txt", "4 0.5 0.5 0.25 0.5\n");
  std::vector<std::string> boxes;
  for (Features& record : Convert(ReadYolo(raw_.path(), {}))) {
    EXPECT_TRUE(record.contains("image/object/class/label"));
    boxes.push_back(record["image/filename"] + ": " +
                    record["image/object/bbox"]);
  }
  std::ranges::sort(boxes);
  EXPECT_THAT(boxes, ElementsAre("a.jpg: 6. 2. 10. 6.", "b.jpg: "));
}

// The size that the annotations give shows whether their boxes fit.
TEST_F(ObjectConversionTest, RefusesAnotherSizeAndNamesEXIF) {
  raw_.Jpeg("a.jpg");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Convert(Coco(32, 8)); }),
              AllOf(HasSubstr("a.jpg: has 16x8 pixels, "),
                    HasSubstr("train.json says 32x8 (")));
  TurnedJpeg("a.jpg", 6);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Convert(Coco(8, 16)); }),
              HasSubstr("train.json says 8x16, the size after its EXIF "
                        "orientation 6: give --exif_rotate"));
  EXPECT_EQ(Convert(Coco(16, 8)).size(), 1U);
  EXPECT_EQ(
      Convert(Coco(8, 16), {.image = {.exif_rotate = true}, .overwrite = true})
          .at(0)
          .at("image/height"),
      "16");
}

TEST_F(ObjectConversionTest, RefusesYolosBoxesOfATurnedImage) {
  TurnedJpeg("images/a.jpg", 3);
  raw_.File("labels/a.txt", "0 0.5 0.5 0.25 0.5\n");
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Convert(ReadYolo(raw_.path(), {})); }),
      AllOf(HasSubstr("a.jpg: the boxes are those of the turned image (EXIF "
                      "orientation 3)"),
            HasSubstr("--exif_rotate")));
  EXPECT_EQ(Convert(ReadYolo(raw_.path(), {}), {.image = {.exif_rotate = true}})
                .size(),
            1U);
}

// A changed annotation makes the shard again, an unchanged one keeps it.
TEST_F(ObjectConversionTest, ResumesWithTheSameAnnotationsOnly) {
  raw_.Jpeg("images/a.jpg");
  const auto kept_with = [&](const std::string& labels) {
    raw_.File("labels/a.txt", labels);
    return infeed::Convert(
               PlanConversion(ReadYolo(raw_.path(), {}), {.shards = 1}),
               out_.path(), {}, [](const ConversionProgress&) {})
        .kept_shards;
  };
  EXPECT_EQ(kept_with("0 0.5 0.5 0.25 0.5\n"), 0);
  EXPECT_EQ(kept_with("0 0.5 0.5 0.25 0.5\n"), 1);
  EXPECT_EQ(kept_with("0 0.5 0.5 0.5 0.5\n"), 0);
}

}  // namespace infeed::converter_objects_test
