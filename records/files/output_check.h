#pragma once

#include <string>
#include <vector>

namespace infeed {

// A file that the user has named, and by which flag.
struct NamedOutput {
  std::string flag;
  std::string path;  // "" is left out
  bool may_be_url = false;
  bool may_be_stdout = false;  // "-" is stdout, and left out
};

// Throws UsageError if an output is a URL that cannot be written, is "-" but
// cannot be stdout, or is one of the inputs, a file that describes them
// (dataset.json, labels.txt, ...), a file in their .infeed, or another output:
// the same file by device and inode, under whatever name or link, or the same
// path if there is no file yet. Programs call it before they open an output.
// Devices and pipes may be named twice.
void CheckOutputs(const std::vector<NamedOutput>& outputs,
                  const std::vector<std::string>& inputs);  // "": none

// Throws IoError that names a missing folder of an output. For files that are
// written when the work is done.
void RequireOutputFolders(const std::vector<NamedOutput>& outputs);

// Throws UsageError if an input is one of the folders or a file in one of them,
// where it would be replaced or removed, or is a link to one. The first folder
// is the user's output, named by flag.
void RefuseInputsIn(const std::vector<std::string>& folders,
                    const std::string& flag,
                    const std::vector<std::string>& inputs);

}  // namespace infeed
