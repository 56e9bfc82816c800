#include "tools/images/voc.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tests/tools/images/annotated_image.h"

namespace infeed::voc_test {

std::string Object(const std::string& name, const std::array<int, 4>& box,
                   bool is_difficult = false) {
  constexpr std::array<const char*, 4> kSides = {"xmin", "ymin", "xmax",
                                                 "ymax"};
  std::string xml = "<object><name>" + name + "</name><difficult>" +
                    (is_difficult ? "1" : "0") + "</difficult><bndbox>";
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string side = kSides[i];
    xml += "<" + side + ">" + std::to_string(box[i]) + "</" + side + ">";
  }
  // Parts of a person have boxes of their own.
  return xml +
         "</bndbox><part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
         "<xmax>2</xmax><ymax>2</ymax></bndbox></part></object>";
}

std::string Xml(const std::string& objects) {
  return "<annotation verified=\"yes\"><filename>other.jpg</filename><size>"
         "<width>16</width><height>8</height><depth>3</depth></size>" +
         objects + "</annotation>";
}

// VOCdevkit/VOC2012 with images 1 to 3, of which 1 is for training.
class VocTest : public ::testing::Test {
 protected:
  VocTest() {
    Add("1", Object("dog", {1, 2, 10, 8}) + Object("cat", {3, 3, 4, 5}, true));
    Add("2", Object("person", {2, 2, 2, 6}));
    Add("3", "");
    raw_.File(kBase + "ImageSets/Main/train.txt", "1\n")
        .File(kBase + "ImageSets/Main/val.txt", "2  1\n3 -1\n")
        .File(kBase + "ImageSets/Main/trainval.txt", "1\n2\n3\n")
        .File(kBase + "ImageSets/Segmentation/trainval.txt", "2\n")
        .File(kBase + "SegmentationClass/2.png", "a mask");
  }

  void Add(const std::string& name, const std::string& objects) {
    raw_.Jpeg(kBase + "JPEGImages/" + name + ".jpg")
        .File(kBase + "Annotations/" + name + ".xml", Xml(objects));
  }
  ImageTree Read(const AnnotationOptions& options = {}) {
    return ReadVoc(raw_.path(), options);
  }

  const std::string kBase = "VOCdevkit/VOC2012/";
  ImageFolder raw_;
};

TEST_F(VocTest, TakesTheListsOfADevkitAndItsMasks) {
  const ImageTree tree = Read();
  ASSERT_THAT(tree.splits, SizeIs(2));
  const std::string images = kBase + "JPEGImages/";
  EXPECT_THAT(Labels(tree.splits[0], raw_), ElementsAre(images + "1.jpg: 2 1"));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(Labels(tree.splits[1], raw_),
              ElementsAre(images + "2.jpg:", images + "3.jpg:"));
  const ImageObjects& first = *tree.splits[0].images[0].objects;
  EXPECT_EQ(first.source_id, "1");
  EXPECT_EQ(first.width, 16);
  EXPECT_EQ(first.height, 8);
  EXPECT_EQ(first.mask, "");
  EXPECT_THAT(first.objects[0].box, ElementsAre(1, 2, 10, 8));
  EXPECT_EQ(first.objects[0].text, "dog");
  EXPECT_TRUE(first.objects[1].is_difficult);
  EXPECT_EQ(tree.splits[1].images[0].objects->mask,
            raw_ / (kBase + "SegmentationClass/2.png"));
  ASSERT_THAT(tree.classes, SizeIs(3));
  EXPECT_EQ(tree.classes[2].name, "person");
  EXPECT_THAT(tree.notes, Contains("--voc: 2 objects in 1 of 3 images; left "
                                   "out: 1 empty box"));
}

TEST_F(VocTest, TakesOtherListsAndDropsDifficultObjects) {
  const ImageTree masks = Read({.voc_set = "Segmentation"});
  EXPECT_THAT(Labels(masks.splits[0], raw_),
              ElementsAre(kBase + "JPEGImages/2.jpg:"));
  EXPECT_FALSE(masks.has_split_folders);
  const ImageTree easy = Read({.drop_difficult = true});
  EXPECT_THAT(Labels(easy.splits[0], raw_),
              ElementsAre(kBase + "JPEGImages/1.jpg: 2"));
}

TEST_F(VocTest, CountsPixelsFromOneOnRequest) {
  const ImageTree tree = Read({.voc_from_one = true});
  EXPECT_THAT(tree.splits[0].images[0].objects->objects[0].box,
              ElementsAre(0, 1, 9, 7));
}

TEST_F(VocTest, NumbersClassesByAList) {
  raw_.File("names.txt", "person\ndog\ncow\ncat\n");
  const ImageTree tree = Read({.class_list = raw_ / "names.txt"});
  EXPECT_THAT(Labels(tree.splits[0], raw_),
              ElementsAre(kBase + "JPEGImages/1.jpg: 2 4"));
  EXPECT_THAT(tree.classes, SizeIs(4));
  raw_.File("names.txt", "person\ndog\n");
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { (void)Read({.class_list = raw_ / "names.txt"}); }),
              HasSubstr("1.xml: the class \"cat\" is not in "));
}

// As LabelImg writes them: no lists, images/ and annotations/.
TEST_F(VocTest, TakesAPairOfFolders) {
  ImageFolder raw;
  raw.Jpegs({"r/images/a.jpg", "r/images/b.jpg", "r/test/c.jpg"})
      .File("r/annotations/a.xml", Xml(Object("raccoon", {1, 1, 5, 5})))
      .File("r/test/c.xml", Xml(Object("raccoon", {1, 1, 5, 5})));
  const ImageTree tree = ReadVoc(raw.path(), {});
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(Labels(tree.splits[0], raw), ElementsAre("r/images/a.jpg: 1"));
  EXPECT_THAT(Labels(tree.splits[1], raw), ElementsAre("r/test/c.jpg: 1"));
  EXPECT_THAT(tree.notes,
              Contains("--voc: 1 image without an XML file left out"));
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)ReadVoc(raw.path(), {.voc_set = "Layout"}); }),
              HasSubstr("ImageSets/Layout/ has no train.txt"));
}

TEST_F(VocTest, NumberedFoldersAreSplitsAndLikelyOnesAreRefused) {
  const auto read = [](const std::string& one, const std::string& other) {
    ImageFolder raw;
    raw.Jpegs({one + "/1.jpg", other + "/2.jpg"})
        .File(one + "/1.xml", Xml(""))
        .File(other + "/2.xml", Xml(""));
    return ReadVoc(raw.path(), {});
  };
  const ImageTree tree = read("train2012", "val2012");
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_EQ(tree.splits[1].name, "validation");
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)read("train_a", "test_a"); }),
      HasSubstr("the folders train_a/ and test_a/ seem to be splits: name"));
}

// Lists in `folder` that divide images 1 to 3, and what is made of them.
std::vector<std::string> SplitsByLists(
    const std::string& folder,
    const std::vector<std::pair<std::string, std::string>>& lists,
    std::vector<std::string>* notes = nullptr) {
  ImageFolder raw;
  for (const char* const name : {"1", "2", "3"}) {
    raw.Jpeg(std::string("JPEGImages/") + name + ".jpg")
        .File(std::string("Annotations/") + name + ".xml", Xml(""));
  }
  for (const auto& [name, text] : lists) {
    raw.File(folder + name, text);
  }
  const ImageTree tree = ReadVoc(raw.path(), {});
  std::vector<std::string> found;
  for (const ImageSplit& split : tree.splits) {
    for (const ImageFile& image : split.images) {
      found.push_back(split.name + " " +
                      image.path.substr(image.path.size() - 5, 1));
    }
  }
  if (notes != nullptr) {
    *notes = tree.notes;
  }
  return found;
}

TEST_F(VocTest, ListsHaveAnyNameOfASplit) {
  const auto parts = ElementsAre("train 1", "train 3", "validation 2");
  for (const auto& [train, other] : {std::pair{"train", "valid"},
                                     {"Train", "Validation"},
                                     {"training", "dev"},
                                     {"TRAIN", "val"}}) {
    EXPECT_THAT(SplitsByLists("ImageSets/Main/",
                              {{std::string(train) + ".txt", "1\n3\n"},
                               {std::string(other) + ".txt", "2\n"}}),
                parts)
        << train;
  }
  EXPECT_THAT(SplitsByLists("ImageSets/",
                            {{"train.txt", "1\n3\n"}, {"val.txt", "2\n"}}),
              parts);
  EXPECT_THAT(SplitsByLists("", {{"train.txt",
                                  "JPEGImages/1.jpg Annotations/1.xml\n"
                                  "/x/JPEGImages/3.jpg\n"},
                                 {"val.txt", "2\n"}}),
              parts);
  EXPECT_THAT(
      MessageOf<UsageError>([] {
        (void)SplitsByLists("ImageSets/Main/",
                            {{"val.txt", "1\n"}, {"valid.txt", "2\n"}});
      }),
      HasSubstr("/ImageSets/Main/: has both val.txt and valid.txt, two names"));
}

TEST_F(VocTest, CountsWhatNoListNames) {
  std::vector<std::string> notes;
  EXPECT_THAT(
      SplitsByLists("ImageSets/Main/",
                    {{"train.txt", "1\n"}, {"dog_val.txt", "2 1\n"}}, &notes),
      ElementsAre("train 1"));
  EXPECT_THAT(notes, Contains("--voc: 2 images with an XML file left out, as "
                              "no list names them"));
  EXPECT_THAT(
      SplitsByLists("ImageSets/Main/", {{"default.txt", "1\n"}}, &notes),
      SizeIs(3));
  EXPECT_THAT(notes, Contains(HasSubstr("/ImageSets/Main/ has no list that is "
                                        "named after a split (as default.txt "
                                        "is not)")));
}

TEST_F(VocTest, ListsDivideAPairOfFolders) {
  ImageFolder raw;
  raw.Jpegs({"images/a.jpg", "images/b.jpg", "images/c.jpg"})
      .File("train.txt", "a\n")
      .File("val.txt", "./images/b.jpg ./annotations/b.xml\n");
  for (const char* const name : {"a", "b", "c"}) {
    raw.File(std::string("annotations/") + name + ".xml", Xml(""));
  }
  const ImageTree tree = ReadVoc(raw.path(), {});
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(Labels(tree.splits[0], raw), ElementsAre("images/a.jpg:"));
  EXPECT_THAT(Labels(tree.splits[1], raw), ElementsAre("images/b.jpg:"));
  EXPECT_THAT(tree.notes, Contains("--voc: 1 image with an XML file left out, "
                                   "as no list names them"));
  raw.File("val.txt", "d\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)ReadVoc(raw.path(), {}); }),
              HasSubstr("/val.txt: line 1: there is no image d"));
  raw.File("val.txt", "a\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)ReadVoc(raw.path(), {}); }),
              HasSubstr("a is in a list already"));
  raw.Jpeg("more/images/a.jpg").File("more/annotations/a.xml", Xml(""));
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)ReadVoc(raw.path(), {}); }),
              HasSubstr("/train.txt: there are several images a"));
}

TEST_F(VocTest, NamesWhatIsWrong) {
  const std::string good = Object("dog", {1, 2, 10, 8});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [xml, says] :
       {std::pair{std::string("<annotation>"), "1.xml: not XML at byte"},
        {std::string("<html/>"),
         "1.xml: expected the XML element annotation, found 'html'"},
        {Xml(good + with("<xmax>10</xmax>", "")),
         "1.xml: object 2: xmax is missing"},
        {Xml(with("10", "ten")), "object 1: xmax is not a number: 'ten'"},
        {Xml(with("10", "nan")), "object 1: xmax is not a number: 'nan'"},
        {Xml(with("dog", " ")), "object 1: name is missing"},
        {Xml(with("<difficult>0", "<difficult>x")),
         "difficult is neither 0 nor 1"}}) {
    raw_.File(kBase + "Annotations/1.xml", xml);
    EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(); }), HasSubstr(says))
        << xml;
  }
  raw_.File(kBase + "ImageSets/Main/train.txt", "9\n");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Read(); }),
              HasSubstr("train.txt: line 1: there is no image "));
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Read({.voc_set = "Layout"}); }),
              HasSubstr("ImageSets/Layout/ has no train.txt"));
}

}  // namespace infeed::voc_test
