#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/folder_listing.h"

// Listings of folders that are kept between runs, so that a folder with a
// million images is listed once.
//
// A side file (side_format.h) of kind "infeedLS", listings.kept in the root's
// folder of the user's cache, whose source is all zeros. Its payload:
//   root, number of folders, the folders
//   folder:  path below the root, stamp (five numbers), listing
//   listing: folders, images, ignored: each a count and that many entries
//   entry:   bytes shared with the name before, the rest of it; an image's size
// Numbers are varints, texts follow their length.
namespace infeed {

// Device, inode, bytes, st_mtim and st_ctim (nanoseconds) of a folder: if they
// are the same, so are its entries. Tools can set st_mtim back, not st_ctim.
using FolderStamp = std::array<std::uint64_t, 5>;

struct KeptListingsOptions {
  // With fewer files and folders than this in all listings, no file is written:
  // listing them is as fast as reading it.
  std::size_t min_entries = 1000;
  // The time now, against which the times of folders are compared.
  std::function<std::chrono::system_clock::time_point()> clock =
      std::chrono::system_clock::now;
};

// The listings of the folders below a root. A kept listing is used while its
// folder's stamp is the same, and is only kept if the folder had not changed
// for two seconds when it was listed: a later change within the same tick of
// the file system's clock would not change the stamp. Folders on FUSE are not
// kept, since object stores mounted there do not maintain these times.
//
// A file that is rewritten in place, or a link's target that is replaced, does
// not change the folder's stamp: the kept size is then wrong. Callers that find
// a file missing or of another size call Forget().
//
// One thread at a time. A missing, damaged or unwritable file of kept listings
// is no error; all folders are then listed anew.
class KeptListings {
 public:
  // Reads the root's file, if there is one. With a URL as root nothing is kept.
  explicit KeptListings(const std::string& root,
                        KeptListingsOptions options = {});

  // Returns what ListFolder() returns, and throws what it throws. A folder that
  // is not below the root is listed but not kept.
  [[nodiscard]] FolderListing List(const std::string& folder);
  // Lists several folders, on up to 16 threads. URLs go to ListFolders().
  [[nodiscard]] std::vector<FolderListing> ListFolders(
      const std::vector<std::string>& paths);

  // Writes the file if a listing in it has changed. What this object has not
  // listed is left out, so that removed folders do not stay in it. Any number
  // of processes may write at once: the last one's file stays.
  void Save();

  // How many folders had a kept listing that was not used, since they changed.
  [[nodiscard]] std::size_t changed_folders() const { return changed_folders_; }

  // Removes the root's file, if there is one.
  static void Forget(const std::string& root);

 private:
  struct Kept {
    FolderStamp stamp{};
    std::string listing;  // as in the file
    bool is_listed = false;
    std::size_t entries = 0;  // of a listed one
  };
  struct Found;

  bool ReadFolders(std::string_view payload);
  [[nodiscard]] Found Find(
      const std::string& folder,
      std::chrono::system_clock::time_point listed_at) const;
  void Take(Found& found);
  [[nodiscard]] std::optional<std::string> KeyFor(
      const std::string& folder) const;
  [[nodiscard]] std::string MakePayload() const;

  KeptListingsOptions options_;
  std::string root_;  // absolute, without a slash at the end
  std::string path_;  // of the file; "" when nothing can be kept
  std::map<std::string, Kept> kept_;  // by the path below the root
  bool has_changed_ = false;
  std::size_t changed_folders_ = 0;
};

}  // namespace infeed
