#include "pipeline/reading/orientation_note.h"

#include <string>

#include "records/store/index_data.h"
#include "tests/support/exif_jpeg.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"

namespace infeed::orientation_note_test {

TEST(OrientationNoteTest, CountsImagesThatAreToBeTurned) {
  ImageFolder raw;
  raw.JpegsIn("a", 3);
  EXPECT_EQ(OrientationNote(*IndexSplit(raw.path(), "train")), "");
  raw.File("b/1.jpg", WithOrientation(TestJpeg(), 6)).File("b/2.jpg", "?");
  EXPECT_EQ(OrientationNote(*IndexSplit(raw.path(), "train")),
            "1 of 5 images has an EXIF orientation, such as " + raw.path() +
                "/b/1.jpg: decoded as stored, not turned; imagenet_to_records "
                "--exif_rotate makes upright shards of them");
}

TEST(OrientationNoteTest, LooksAtSomeOfMany) {
  ImageFolder raw;
  raw.JpegsIn("a", 200);
  for (int i = 0; i < 100; ++i) {
    raw.File("b/" + std::to_string(i) + ".jpg", WithOrientation(TestJpeg(), 3));
  }
  const std::string note = OrientationNote(*IndexSplit(raw.path(), "train"));
  EXPECT_THAT(note, HasSubstr("of 32 images (those looked at, of 300) have"));
}

TEST(OrientationNoteTest, FilesThatAreGoneDoNotCount) {
  ImageFolder raw;
  raw.File("a.jpg", WithOrientation(TestJpeg(), 3));
  const RecordIndex index = RecordIndex::OfImages(
      {{.path = raw / "gone.jpg"}, {.path = raw / "a.jpg"}});
  EXPECT_THAT(OrientationNote(index), HasSubstr("1 of 2 images has"));
}

}  // namespace infeed::orientation_note_test
