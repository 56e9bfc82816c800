#pragma once

#include <map>
#include <string>
#include <vector>

// Text files about classes, beside the images.
namespace infeed {

// Has the class of the i-th validation image on line i.
inline constexpr const char* kLabelFile = "synset_labels.txt";

// Reads a label file: one class a line. Throws IoError, and DataError for an
// empty line that is not at the end.
[[nodiscard]] std::vector<std::string> ReadLabels(const std::string& path);

// Reads the readable names of classes, by class, from FOLDER/class_names.txt
// or, if that is missing, from ImageNet's LOC_synset_mapping.txt: on each line
// a class, a space or tab, and the text. Empty if both are missing. Throws
// IoError.
[[nodiscard]] std::map<std::string, std::string> ReadClassTexts(
    const std::string& folder);

}  // namespace infeed
