#include "records/files/output_check.h"

#include <sys/stat.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Files beside shards or images that belong to them.
constexpr std::array kDescriptions = {"dataset.json", "labels.txt",
                                      "class_names.txt", "synset_labels.txt"};

// Two names with the same identity are one file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path = {};  // of an object, or of a file that is not there yet

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// The target of a path, with no link in it that can be followed.
std::string Canonical(const std::string& path) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  fs::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) {
      break;
    }
    target = target.parent_path() / next;
  }
  return fs::weakly_canonical(fs::absolute(target), error).string();
}

std::string CanonicalFolder(const std::string& folder) {
  if (!IsUrl(folder)) {
    return Canonical(folder);
  }
  return folder.substr(0, folder.find_last_not_of('/') + 1);
}

// nullopt for what is no file: a device, a pipe.
std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat status {};
  if (IsUrl(path)) {
    return FileIdentity{.path = OneUrl(path)};
  }
  if (::stat(path.c_str(), &status) != 0) {
    return FileIdentity{.path = Canonical(path)};
  }
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return std::nullopt;
  }
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

// By device and inode: a folder that is mounted twice has two paths.
FileIdentity FolderIdentity(const std::string& folder) {
  return IdentityOf(IsUrl(folder) ? CanonicalFolder(folder) : folder)
      .value_or(FileIdentity{.path = folder});
}

[[noreturn]] void Refuse(const NamedOutput& output, const std::string& what) {
  throw UsageError(output.flag + " " + PathForMessages(output.path) + ": is " +
                   what + ": give another file");
}

using Outputs = std::map<FileIdentity, const NamedOutput*>;

void CheckInput(const std::string& input, const Outputs& outputs) {
  const std::optional<FileIdentity> identity = IdentityOf(input);
  const auto found = identity ? outputs.find(*identity) : outputs.end();
  if (found != outputs.end()) {
    Refuse(*found->second, "the input " + PathForMessages(input));
  }
}

// Whether an output is one that is written: not stdout.
bool IsFile(const NamedOutput& output) {
  return !output.path.empty() && output.path != "-";
}

// The folders that hold an input's file or files, each with one of the inputs.
std::map<std::string, std::string> FoldersOf(
    const std::vector<std::string>& inputs) {
  std::map<std::string, std::string> folders;
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (!input.empty()) {
      folders.emplace(
          fs::is_directory(input, ignored) ? input : ParentFolder(input),
          input);
    }
  }
  return folders;
}

// The folder X of an output X/.infeed/NAME, for each such X.
std::multimap<FileIdentity, const NamedOutput*> SideOwners(
    const std::vector<NamedOutput>& outputs) {
  constexpr std::string_view kSide = "/.infeed/";
  std::multimap<FileIdentity, const NamedOutput*> owners;
  for (const NamedOutput& output : outputs) {
    if (!IsFile(output)) {
      continue;
    }
    const std::string path =
        IsUrl(output.path) ? output.path : Canonical(output.path);
    for (std::size_t at = path.find(kSide); at != path.npos;
         at = path.find(kSide, at + 1)) {
      if (const auto owner = IdentityOf(path.substr(0, at))) {
        owners.emplace(*owner, &output);
      }
    }
  }
  return owners;
}

// Refuses outputs among the side files of the inputs, which are beside shards,
// and beside the folder of images in folders of splits and classes.
void CheckSideFolders(const std::vector<NamedOutput>& outputs,
                      const std::map<std::string, std::string>& folders) {
  constexpr int kMostLevels = 4;
  const auto owners = SideOwners(outputs);
  if (owners.empty()) {
    return;
  }
  for (const auto& [first, input] : folders) {
    std::string folder = CanonicalFolder(first);
    for (int level = 0; level < kMostLevels; ++level) {
      const std::optional<FileIdentity> identity = IdentityOf(folder);
      const auto found = identity ? owners.find(*identity) : owners.end();
      if (found != owners.end()) {
        Refuse(*found->second,
               "among the side files of the input " + PathForMessages(input));
      }
      folder = ParentFolder(folder);
    }
  }
}

void CheckDescriptions(const std::set<std::string>& shards,
                       const Outputs& outputs) {
  for (const std::string& shard : shards) {
    for (const std::string& folder : DatasetFolders(shard)) {
      for (const char* name : kDescriptions) {
        CheckInput((fs::path(folder) / name).string(), outputs);
      }
    }
  }
}

}  // namespace

void CheckOutputs(const std::vector<NamedOutput>& outputs,
                  const std::vector<std::string>& inputs) {
  const std::map<std::string, std::string> folders = FoldersOf(inputs);
  CheckSideFolders(outputs, folders);
  Outputs known;
  for (const NamedOutput& output : outputs) {
    if (output.path == "-" && !output.may_be_stdout) {
      throw UsageError(output.flag +
                       " -: is not stdout: give a file (./- for one of that "
                       "name), or /dev/stdout");
    }
    if (!IsFile(output)) {
      continue;
    }
    if (!output.may_be_url || !IsUrl(output.path)) {
      RefuseUrl(output.path, output.flag);
    }
    const std::optional<FileIdentity> identity = IdentityOf(output.path);
    if (!identity) {
      continue;
    }
    const auto [place, is_new] = known.emplace(*identity, &output);
    if (!is_new) {
      Refuse(output, "also the file of " + place->second->flag);
    }
  }
  // A file that does not exist yet cannot be destroyed.
  std::erase_if(known, [](const auto& item) {
    return item.first.inode == 0 && !IsUrl(item.first.path);
  });
  if (known.empty()) {
    return;
  }
  for (const std::string& input : inputs) {
    if (!input.empty()) {
      CheckInput(input, known);
    }
  }
  std::set<std::string> shards;
  for (const auto& [folder, input] : folders) {
    shards.insert(folder + "/");
  }
  CheckDescriptions(shards, known);
}

void RequireOutputFolders(const std::vector<NamedOutput>& outputs) {
  for (const NamedOutput& output : outputs) {
    if (IsFile(output) && !IsUrl(output.path)) {
      RequireParentFolder(output.path);
    }
  }
}

void RefuseInputsIn(const std::vector<std::string>& folders,
                    const std::string& flag,
                    const std::vector<std::string>& inputs) {
  std::set<FileIdentity> outputs;
  for (const std::string& folder : folders) {
    outputs.insert(FolderIdentity(folder));
  }
  std::map<std::string, FileIdentity> known;  // of the inputs' folders
  const auto is_output = [&](const std::string& folder) {
    const auto [place, is_new] = known.try_emplace(folder);
    if (is_new) {
      place->second = FolderIdentity(folder);
    }
    return outputs.contains(place->second);
  };
  std::error_code error;
  for (const std::string& input : inputs) {
    const bool is_link = !IsUrl(input) && fs::is_symlink(input, error);
    const bool is_folder = !IsUrl(input) && fs::is_directory(input, error);
    if (is_output(ParentFolder(input)) || (is_folder && is_output(input)) ||
        (is_link && is_output(ParentFolder(Canonical(input))))) {
      throw UsageError(flag + " " + PathForMessages(folders.front()) +
                       ": the input " + PathForMessages(input) +
                       " lies in this folder: give another one");
    }
  }
}

}  // namespace infeed
