#include "tools/images/coco.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/tools/images/annotated_image.h"

namespace infeed::coco_test {

// A file of three images; the polygons are those of a real one in form.
std::string Coco(const std::string& annotations,
                 const std::string& images = "") {
  return R"({"info": {"year": 2017, "more": {"id": 1}}, "licenses": [{"id": 1}],
    "annotations": [)" +
         annotations + R"(],
    "images": [
      {"id": 9, "file_name": "b.jpg", "width": 16, "height": 8},
      {"id": 397133, "file_name": "a.jpg", "width": 16, "height": 8},
      {"id": 4, "file_name": "c.jpg", "width": 16, "height": 8})" +
         images + R"(],
    "categories": [{"id": 1, "name": "person", "supercategory": "person"},
                   {"id": 4, "name": "motorcycle"}]})";
}

std::string Object(int id, int image, int category, const std::string& bbox,
                   const std::string& more = "\"iscrowd\": 0") {
  return R"({"segmentation": [[1.5, 2, 3, 4.25, 5, 6], [7, 8, 9, 1, 2, 3]],
    "id": )" +
         std::to_string(id) + R"(, "area": 12.5, "image_id": )" +
         std::to_string(image) + R"(, "category_id": )" +
         std::to_string(category) + R"(, "bbox": )" + bbox + ", " + more + "}";
}

class CocoTest : public ::testing::Test {
 protected:
  CocoTest() { raw_.Jpegs({"train2017/a.jpg", "b.jpg", "images/c.jpg"}); }

  ImageTree Read(const std::string& text,
                 const AnnotationOptions& options = {}) {
    raw_.File(kFile, text);
    return ReadCoco({raw_ / kFile}, raw_.path(), options);
  }
  std::string ErrorOf(const std::string& text) {
    return MessageOf<DataError>([&] { (void)Read(text); });
  }

  static constexpr const char* kFile = "annotations/instances_train2017.json";
  ImageFolder raw_;
};

// torchvision's wrapper of CocoDetection makes the same bits.
TEST_F(CocoTest, JoinsBoxesWithTorchvisionsBits) {
  const ImageTree tree = Read(
      Coco(Object(7, 397133, 4, "[123.4, 56.78, 200.1, 33.33]") + "," +
           Object(3, 397133, 1, "[0.1, 0.2, 0.3, 0.4]", R"("iscrowd": 1)") +
           "," + Object(2, 4, 1, "[473.07,395.93,38.65,28.67]")));
  ASSERT_THAT(tree.splits, SizeIs(1));
  EXPECT_EQ(tree.splits[0].name, "train");
  EXPECT_THAT(Labels(tree.splits[0], raw_),
              ElementsAre("b.jpg:", "images/c.jpg: 1", "train2017/a.jpg: 4 1"));
  const ImageObjects& a = *tree.splits[0].images[2].objects;
  EXPECT_EQ(a.source_id, "397133");
  EXPECT_EQ(a.width, 16);
  EXPECT_EQ(a.objects[0].text, "motorcycle");
  EXPECT_EQ(a.objects[0].area, 12.5F);
  EXPECT_FALSE(a.objects[0].is_crowd);
  EXPECT_TRUE(a.objects[1].is_crowd);
  EXPECT_THAT(BitsOf(a.objects[0]),
              ElementsAre(0x42f6cccd, 0x42631eb8, 0x43a1c000, 0x42b43852));
  EXPECT_THAT(BitsOf(a.objects[1]),
              ElementsAre(0x3dcccccd, 0x3e4ccccd, 0x3ecccccd, 0x3f19999a));
  EXPECT_THAT(BitsOf(tree.splits[0].images[1].objects->objects[0]),
              ElementsAre(0x43ec88f6, 0x43c5f70a, 0x43ffdc29, 0x43d44ccd));
}

// labels.txt has a line for each label, also for those without a class.
TEST_F(CocoTest, CategoriesAreClassesByTheirIds) {
  const ImageTree tree = Read(Coco(""));
  std::vector<std::string> names;
  for (const ImageClass& image_class : tree.classes) {
    names.push_back(image_class.name);
  }
  EXPECT_THAT(names, ElementsAre("person", "N/A", "N/A", "motorcycle"));
}

// As Label Studio numbers them. Roboflow's category 0 has no objects.
TEST_F(CocoTest, SaysThatTheCategoryZeroIsTheBackground) {
  const auto notes_with = [&](int category) {
    std::string text = Coco(Object(1, 9, category, "[1, 2, 3, 4]"));
    text.insert(text.rfind(R"({"id": 1,)"), R"({"id": 0, "name": "ant"},)");
    return Read(text).notes;
  };
  EXPECT_THAT(notes_with(0),
              Contains(HasSubstr("category id 0 (\"ant\"): labels are ids")));
  EXPECT_THAT(notes_with(1), SizeIs(1));
}

TEST_F(CocoTest, LeavesOutEmptyBoxesAndWhatIsDropped) {
  const std::string text = Coco(
      Object(1, 9, 1, "[1, 1, 0, 3]") + "," + Object(2, 9, 1, "[1, 1, 3, -2]") +
      "," + Object(3, 4, 1, "[1, 1, 3, 2]", R"("iscrowd": 1)") + "," +
      Object(4, 397133, 4, "[1, 1, 3, 2]"));
  const ImageTree all = Read(text);
  EXPECT_THAT(Labels(all.splits[0], raw_),
              ElementsAre("b.jpg:", "images/c.jpg: 1", "train2017/a.jpg: 4"));
  EXPECT_THAT(all.notes,
              Contains("--coco: 2 objects in 2 of 3 images; left out: 2 empty "
                       "boxes"));
  const ImageTree few = Read(text, {.drop_crowds = true, .drop_empty = true});
  EXPECT_THAT(Labels(few.splits[0], raw_), ElementsAre("train2017/a.jpg: 4"));
  EXPECT_THAT(few.notes,
              Contains("--coco: 1 object in 1 of 1 image; left out: 2 empty "
                       "boxes, 1 crowd, 2 images without objects"));
}

TEST_F(CocoTest, FindsNamesWithBackslashesAndNamesAFlagTooMany) {
  ImageFolder raw;
  raw.Jpeg("set/sub/1.jpg").File("set/a.json", R"({"images": [{"id": 1,
        "file_name": "sub\\1.jpg"}], "annotations": [], "categories": []})");
  const ImageTree tree = ReadCoco({raw / "set/a.json"}, "", {});
  EXPECT_THAT(Labels(tree.splits[0], raw), ElementsAre("set/sub/1.jpg:"));
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)ReadCoco({raw / "set/a.json"}, raw.path(), {});
              }),
              HasSubstr("but beside the json: leave --raw_data_dir out"));
}

// As Roboflow exports them: a file in each split's folder, beside its images.
TEST_F(CocoTest, TakesFilesBesideTheirImages) {
  const std::string text = R"({"images": [{"id": "x", "file_name": "1.jpg"}],
    "annotations": [], "categories": []})";
  raw_.Jpegs({"train/1.jpg", "valid/1.jpg"})
      .File("train/_annotations.coco.json", text)
      .File("valid/_annotations.coco.json", text);
  const ImageTree tree = ReadCoco({raw_ / "train/_annotations.coco.json",
                                   raw_ / "valid/_annotations.coco.json"},
                                  "", {});
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(Labels(tree.splits[0], raw_), ElementsAre("train/1.jpg:"));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(Labels(tree.splits[1], raw_), ElementsAre("valid/1.jpg:"));
  EXPECT_THAT(tree.classes, IsEmpty());
}

TEST_F(CocoTest, NamesWhatIsWrongWithAFile) {
  const std::string box = "[1, 1, 2, 2]";
  for (const auto& [text, says] :
       {std::pair{std::string("[]"), "has no list \"images\""},
        {std::string("{\"images\": [], \"categories\": []}"),
         "has no list \"annotations\": expected COCO's instances_*.json"},
        {std::string("{\"images\": {\"a\": 1}}"), "\"images\" is not a list"},
        {std::string("{\"annotations\": null}"),
         "\"annotations\" is not a list"},
        {std::string("{\"images\": [\"a.jpg\"]}"),
         "\"images\" is not a list of objects"},
        {Coco("[1]"), "\"annotations\" is not a list of objects"},
        {std::string("{"), "instances_train2017.json: not JSON at byte"},
        {std::string(40, '['), "nested more than 32 levels deep"},
        {Coco(Object(7, 5, 1, box)),
         "annotations: id 7: there is no image of the id 5"},
        {Coco(Object(7, 9, 2, box)), "id 7: there is no category of the id 2"},
        {Coco(R"({"image_id": 5, "category_id": 1, "bbox": [1, 1, 2, 2]})"),
         "annotations: there is no image of the id 5"},
        {Coco(Object(7, 9, 1, "[1, 2, 3]")),
         "id 7: bbox is not a list of 4 numbers"},
        {Coco(Object(7, 9, 1, "[1, 2, 3, \"4\"]")), "bbox is not a number"},
        {Coco(Object(7, 9, 1, "[1, 2, 3, 1e40]")),
         "id 7: bbox: a number is not finite, or too large"},
        {Coco(Object(7, 9, 1, "[3e38, 2, 3e38, 4]")), "bbox is too large"},
        {Coco(Object(7, 9, 1, "[1, 2, 3, 1e999]")), "a number is too large"},
        {Coco(Object(7, 9, 1, "[1, 2, 3, NaN]")), "not JSON at byte"},
        {Coco(Object(7, 9, 1, box, "\"iscrowd\": 2")),
         "iscrowd is neither 0 nor 1"},
        {Coco(R"({"id": 1.5, "image_id": 9, "category_id": 1})"),
         "annotations: id 1.5: id is not a whole number"},
        {Coco(Object(7, 9, 1, box, "\"iscrowd\": 18446744073709551615")),
         "id 7: iscrowd is not a whole number"},
        {Coco("", R"(, {"id": 9, "file_name": "a.jpg"})"),
         "images: id 9 is there twice"},
        {Coco("", R"(, {"id": 5, "file_name": "b.jpg"})"),
         "b.jpg is annotated twice"},
        {Coco("", R"(, {"id": 5, "file_name": "z.jpg"})"),
         "images: z.jpg is neither in "},
        {Coco("", R"(, {"id": 5})"), "images: id 5: file_name is missing"}}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr(says)) << text;
  }
  EXPECT_THAT(MessageOf<IoError>([&] {
                (void)ReadCoco({raw_ / "none.json"}, raw_.path(), {});
              }),
              HasSubstr("none.json: cannot open"));
}

TEST_F(CocoTest, RefusesANameOfTwoSplits) {
  raw_.File("test_val.json", Coco(""));
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)ReadCoco({raw_ / "test_val.json"}, raw_.path(), {});
              }),
              HasSubstr("test_val.json: its name has words for two splits, "
                        "test and val"));
}

TEST_F(CocoTest, RefusesASetWithoutImages) {
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)Read(Coco(""), {.drop_empty = true}); }),
              AllOf(HasSubstr("no images with annotations"),
                    HasSubstr("--drop_empty")));
}

}  // namespace infeed::coco_test
