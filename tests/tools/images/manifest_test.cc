#include "tools/images/manifest.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::manifest_test {

// A folder with images 1.jpg to 3.jpg and a manifest.
class ImageManifestTest : public ::testing::Test {
 protected:
  ImageManifestTest() { raw_.Jpegs({"1.jpg", "2.jpg", "3.jpg"}); }

  ImageTree Read(const std::string& text, const std::string& name = "m.csv") {
    raw_.File(name, text);
    return ReadManifests({raw_ / name}, "");
  }

  // The message of the error that a table gives.
  template <typename Error = DataError>
  std::string ErrorOf(const std::string& text,
                      const std::string& name = "m.csv") {
    return MessageOf<Error>([&] { (void)Read(text, name); });
  }

  ImageFolder raw_;
};

TEST_F(ImageManifestTest, TakesAllAsTrainWithoutASplitColumn) {
  const ImageTree tree = Read("label,path\ndog,3.jpg\ncat,1.jpg\ndog,2.jpg\n");
  ASSERT_THAT(tree.classes, SizeIs(2));
  EXPECT_EQ(tree.classes[0].name, "cat");
  EXPECT_EQ(tree.classes[1].text, "dog");
  ASSERT_THAT(tree.splits, SizeIs(1));
  EXPECT_EQ(tree.splits[0].name, "train");
  EXPECT_THAT(Images(tree.splits[0], raw_),
              ElementsAre("1.jpg:0", "2.jpg:1", "3.jpg:1"));
  EXPECT_GT(tree.splits[0].images[0].bytes, 0);
  EXPECT_FALSE(tree.has_split_folders);
}

// Labels that are numbers keep them, also from 10 on.
TEST_F(ImageManifestTest, SortsNumbersAsNumbers) {
  const ImageTree tree = Read("path,label\n1.jpg,10\n2.jpg,9\n3.jpg,other\n");
  EXPECT_THAT(Images(tree.splits[0], raw_),
              ElementsAre("1.jpg:1", "2.jpg:0", "3.jpg:2"));
}

TEST_F(ImageManifestTest, NumbersThatAreNotWholeAreNoClasses) {
  for (const std::string label : {"0.5", "-1.25", "10.0", "nan", "inf"}) {
    EXPECT_THAT(
        ErrorOf("path,label\n1.jpg,10\n2.jpg," + label + "\n"),
        HasSubstr("m.csv: line 3: the label " + label + " is not the name"));
  }
  EXPECT_THAT(Read("path,label\n1.jpg,v1.5\n2.jpg,1e5\n3.jpg,-1\n").classes,
              SizeIs(3));
}

TEST_F(ImageManifestTest, BlanksAroundALabelAreNoPartOfIt) {
  const ImageTree tree = Read(
      "path,label,split,text\n1.jpg, cat,train,a  cat \n"
      "2.jpg,cat , val,\n3.jpg,\"\tcat\",train ,a  cat\n");
  ASSERT_THAT(tree.classes, SizeIs(1));
  EXPECT_EQ(tree.classes[0].name, "cat");
  EXPECT_EQ(tree.classes[0].text, "a  cat");
  EXPECT_THAT(tree.splits, SizeIs(2));
  EXPECT_THAT(ErrorOf("path,label\n1.jpg,  \n"),
              HasSubstr("line 2: the label is empty"));
}

TEST_F(ImageManifestTest, TakesSplitsAndTexts) {
  const ImageTree tree = Read(
      "path\tlabel\tsplit\ttext\n1.jpg\tn2\ttest\tgold, fish\n"
      "2.jpg\tn1\tval\t\n3.jpg\tn2\tvalidation\t\n",
      "m.TSV");
  EXPECT_EQ(tree.classes[0].text, "n1");
  EXPECT_EQ(tree.classes[1].text, "gold, fish");
  ASSERT_THAT(tree.splits, SizeIs(2));
  EXPECT_EQ(tree.splits[0].name, "validation");
  EXPECT_THAT(Images(tree.splits[0], raw_), ElementsAre("2.jpg:0", "3.jpg:1"));
  EXPECT_EQ(tree.splits[1].name, "test");
  EXPECT_TRUE(tree.has_split_folders);
}

TEST_F(ImageManifestTest, StartsAtABaseFolderWhenThereIsOne) {
  ImageFolder images;
  images.Jpeg("a/x.jpg");
  raw_.File("m.csv", "path,label\na/x.jpg,cat\n");
  const ImageTree tree = ReadManifests({raw_ / "m.csv"}, images.path());
  EXPECT_EQ(tree.splits[0].images[0].path, images / "a/x.jpg");
}

TEST_F(ImageManifestTest, TakesAbsolutePathsAndAnyExtension) {
  ImageFolder images;
  images.Jpeg("photo");
  const ImageTree tree =
      Read("path,label\n" + (images / "photo") + ",cat\n1.jpg,cat\n");
  EXPECT_EQ(tree.splits[0].images[0].path, images / "photo");
}

TEST_F(ImageManifestTest, BackslashesSeparateFoldersWhereNoFileHasThem) {
  raw_.Jpegs({"a/x.jpg", "a\\y.jpg"});
  const ImageTree tree = Read("path,label\na\\x.jpg,cat\na\\y.jpg,cat\n");
  EXPECT_THAT(Images(tree.splits[0], raw_),
              ElementsAre("a/x.jpg:0", "a\\y.jpg:0"));
}

TEST_F(ImageManifestTest, ATableInUtf16IsRefused) {
  EXPECT_THAT(ErrorOf("\xFF\xFEp"), HasSubstr("the table is UTF-16: save it"));
}

TEST_F(ImageManifestTest, UnitesManifests) {
  raw_.File("a.csv", "path,label\n2.jpg,cat\n");
  raw_.File("b.tsv", "path\tlabel\ttext\n1.jpg\tcat\tCat\n");
  const ImageTree tree = ReadManifests({raw_ / "a.csv", raw_ / "b.tsv"}, "");
  EXPECT_EQ(tree.classes[0].text, "Cat");
  EXPECT_THAT(Images(tree.splits[0], raw_), ElementsAre("1.jpg:0", "2.jpg:0"));
}

TEST_F(ImageManifestTest, NamesManifestAndLineOfAMissingFile) {
  EXPECT_THAT(
      ErrorOf<IoError>("path,label\n1.jpg,cat\nno.jpg,cat\n"),
      AllOf(HasSubstr("m.csv: line 3: "), HasSubstr("no.jpg: cannot read: No "
                                                    "such file")));
  raw_.Folder("folder");
  EXPECT_THAT(ErrorOf<IoError>("path,label\nfolder,cat\n"),
              HasSubstr("m.csv: line 2: "));
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)ReadManifests({raw_ / "none.csv"}, ""); }),
      HasSubstr("none.csv: cannot open"));
}

TEST_F(ImageManifestTest, NamesWhatIsWrongWithALine) {
  for (const auto& [text, says] :
       {std::pair{"path,label,colour\n1.jpg,cat,red\n",
                  "m.csv: line 1: unknown column \"colour\""},
        {"path,label,path\n1.jpg,cat,1.jpg\n",
         "line 1: column path is there twice"},
        {"path,split\n1.jpg,train\n", "m.csv: line 1: column label is missing"},
        {"label\ncat\n", "column path is missing"},
        {"", "m.csv: line 1: the file is empty"},
        {"path,label\n", "no image follows"},
        {"path,label\n1.jpg,cat\n2.jpg\n",
         "m.csv: line 3: has 1 values, the first row 2"},
        {"path,label\n1.jpg,cat,dog\n", "has 3"},
        {"path,label,split\n1.jpg,cat,some\n",
         "m.csv: line 2: unknown split \"some\": train, validation or test"},
        {"path,label\n,cat\n", "the path is empty"},
        {"path,label\n1.jpg,\n", "the label is empty"},
        {"path,label\n1.jpg,\"a\nb\"\n",
         "m.csv: line 2: a control character in \"a\\nb\": remove it"},
        {"path,label\n\"1.jpg,cat\n",
         "m.csv: line 2: a quote is not closed"}}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr(says)) << text;
  }
}

TEST_F(ImageManifestTest, RefusesAnImageThatIsNamedTwice) {
  EXPECT_THAT(
      ErrorOf("path,label\n1.jpg,cat\n2.jpg,cat\n./1.jpg,dog\n"),
      AllOf(HasSubstr("m.csv: line 4: "),
            HasSubstr("1.jpg is in " + (raw_ / "m.csv: line 2 already"))));
  raw_.File("a.csv", "path,label\n1.jpg,cat\n");
  raw_.File("b.csv", "path,label\n1.jpg,cat\n");
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)ReadManifests({raw_ / "a.csv", raw_ / "b.csv"}, "");
              }),
              AllOf(HasSubstr("b.csv: line 2"), HasSubstr("a.csv: line 2")));
}

TEST_F(ImageManifestTest, RefusesTwoTextsForAClass) {
  EXPECT_THAT(ErrorOf("path,label,text\n1.jpg,n1,fish\n2.jpg,n1,bird\n"),
              HasSubstr("line 3: the text of class n1 is \"bird\" here and "
                        "\"fish\" in "));
}

TEST_F(ImageManifestTest, RefusesOtherFiles) {
  EXPECT_THAT(ErrorOf<UsageError>("path,label\n1.jpg,cat\n", "m.txt"),
              HasSubstr("m.txt: its name must end in .csv"));
}

TEST_F(ImageManifestTest, RefusesManifestsWithAndWithoutSplits) {
  raw_.File("a.csv", "path,label\n1.jpg,cat\n");
  raw_.File("b.csv", "path,label,split\n2.jpg,cat,val\n");
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)ReadManifests({raw_ / "a.csv", raw_ / "b.csv"}, "");
              }),
              AllOf(HasSubstr("b.csv has a split column"),
                    HasSubstr("a.csv has none")));
}

}  // namespace infeed::manifest_test
