#pragma once

#include <span>
#include <string>
#include <string_view>

#include "records/files/image_runs.h"

// Folders that would be classes, but are more likely something else.
namespace infeed {

// All throw UsageError. folder: that of the images' paths, for messages.

// Rejects <class>/train/*: the images of all splits would be one.
void RefuseSplitsInClasses(const std::string& folder, const ImageRuns& images);

// Rejects trainset/<class>/* beside testset/<class>/*, and train/* beside
// test1/*. Classes among others may be bullet_train and test_tube.
void RefuseNamesLikeSplits(const std::string& folder, const ImageRuns& images);

// Rejects images/* beside masks/*, labels/* or annotations/* alone.
void RefuseImagesBesideMasks(const std::string& folder,
                             const ImageRuns& images);

// Names the flag of imagenet_to_records that reads a folder of images without
// classes, by the files beside them: a table, annotations, raw files. "" or
// "; DIR/labels.csv: ...".
[[nodiscard]] std::string OtherLayoutHint(
    const std::string& folder, std::span<const std::string_view> files);

}  // namespace infeed
