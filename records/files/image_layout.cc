#include "records/files/image_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/image_runs.h"
#include "records/files/layout_faults.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"

namespace infeed {
namespace {

constexpr std::string_view kSynsetFile = "synset_labels.txt";
constexpr std::string_view kAnnotationFile = "val_annotations.txt";

constexpr const char* kLayoutsHelp =
    "sort them into class folders (SPLIT/<class>/*), or give ImageNet's "
    "validation/* with synset_labels.txt beside it, Tiny ImageNet's "
    "val/images/* with val/val_annotations.txt, or names such as cat.0.jpg";

// WORD of a name WORD.NUMBER.EXT; empty if the name has another form.
std::string_view WordOf(std::string_view name) {
  const auto is_number = [](std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == last) {
    return {};
  }
  const std::string_view word = name.substr(0, first);
  const std::string_view number = name.substr(first + 1, last - first - 1);
  // A number for a word would be a date or the like.
  return is_number(word) || number.empty() || !is_number(number)
             ? std::string_view()
             : word;
}

class LayoutMaker {
 public:
  explicit LayoutMaker(const TreeFiles& files) : files_(files) {}

  ImageLayout Run() {
    RefuseSamples();
    ImageRuns images = GatherRuns(files_.images);
    const std::string_view shared = TakeOffShared(images);
    std::map<std::string_view, ImageRuns> splits = DivideBySplit(images);
    if (layout_.has_splits) {
      ClassifySplits(splits);
    } else {
      RefuseSplitsInClasses(PathOf(""), images);
      RefuseNamesLikeSplits(PathOf(""), images);
      ClassifyPlain(shared, images);
      splits["train"] = std::move(images);
    }
    Number(splits);
    NoteForeignClasses();
    return std::move(layout_);
  }

 private:
  // Rejects an unpacked tar of samples: its folders are no classes.
  void RefuseSamples() const {
    const auto label = std::ranges::find_if(
        files_.others,
        [](std::string_view path) { return path.ends_with(".cls"); });
    if (!files_.images.empty() && label != files_.others.end()) {
      throw UsageError(files_.root + std::string(*label) +
                       ": labels in .cls files are read in tars alone: pack "
                       "them (tar --sort=name -cf x.tar -C FOLDER .)");
    }
  }

  // Takes off the leading folders that all images share, up to a split's name,
  // and returns the last one; empty: there was none. Images beside the only
  // folder are left out.
  std::string_view TakeOffShared(ImageRuns& images) {
    std::string_view last;
    for (;;) {
      LeaveOutLoose(files_.root + layout_.folder, images);
      if (!ShareFolder(images) || IsSplitOfAll(images)) {
        return last;
      }
      last = FirstFolder(images.front().path);
      layout_.folder.append(last).append("/");
      TakeOffFolder(images);
    }
  }

  // Whether the folder that all images share is a split, not one around splits.
  static bool IsSplitOfAll(const ImageRuns& images) {
    return IsNamedAsSplit(images.front()) &&
           !std::ranges::all_of(images, [](const ImageRun& image) {
             return !SplitNamed(FirstFolder(BelowFirstFolder(image.path)))
                         .empty();
           });
  }

  // Leaves out images that are in no folder, where others are.
  void LeaveOutLoose(const std::string& folder, ImageRuns& images) {
    if (std::ranges::any_of(images, HasFolder)) {
      std::size_t loose = 0;
      std::erase_if(images, [&](const ImageRun& image) {
        loose += HasFolder(image) ? 0 : image.count;
        return !HasFolder(image);
      });
      if (loose > 0) {
        layout_.notes.push_back(WithoutEnd(folder) + ": skipped " +
                                CountText(loose, "file") +
                                " in no class folder");
      }
    }
  }

  // The images by the folder of their split, if there are such.
  std::map<std::string_view, ImageRuns> DivideBySplit(const ImageRuns& images) {
    std::map<std::string_view, ImageRuns> folders;
    for (const ImageRun& image : images) {
      folders[FirstFolder(image.path)].push_back(image);
    }
    bool has_classes = false;
    bool has_others = false;
    for (auto& [folder, inside] : folders) {
      has_others |= SplitNamed(folder).empty();
      has_classes |= !SplitNamed(folder).empty() && IsDivided(folder, inside);
    }
    if (folders.empty() || (has_others && !has_classes)) {
      return {};
    }
    layout_.has_splits = true;
    LeaveOutOthers(folders);
    RefuseTwins(folders);
    for (auto& [folder, inside] : folders) {
      do {  // train/train/<class> is common, too.
        TakeOffFolder(inside);
      } while (ShareFolder(inside) &&
               SplitNamed(FirstFolder(inside.front().path)) ==
                   SplitNamed(folder));
    }
    return folders;
  }

  // Whether a folder that is named as a split is one by what is in it.
  bool IsDivided(std::string_view folder, ImageRuns inside) const {
    TakeOffFolder(inside);
    TakeOffImagesFolder(inside);
    return std::ranges::any_of(inside, HasFolder) ||
           !LabelFileOf(folder).empty();
  }

  void LeaveOutOthers(std::map<std::string_view, ImageRuns>& folders) {
    std::erase_if(folders, [&](const auto& entry) {
      if (!SplitNamed(entry.first).empty()) {
        return false;
      }
      layout_.notes.push_back(PathOf(entry.first) +
                              ": skipped, neither train, validation nor test");
      return true;
    });
  }

  void RefuseTwins(const std::map<std::string_view, ImageRuns>& folders) {
    std::map<std::string_view, std::string_view> names;  // by split
    for (const auto& [folder, inside] : folders) {
      const auto [other, is_new] = names.emplace(SplitNamed(folder), folder);
      if (!is_new) {
        RefuseTwoNamesOf(other->first, WithoutEnd(files_.root + layout_.folder),
                         std::string(other->second) + "/",
                         std::string(folder) + "/");
      }
    }
  }

  void ClassifySplits(std::map<std::string_view, ImageRuns>& splits) {
    std::vector<std::string_view> unlabelled;
    for (auto& [folder, images] : splits) {
      TakeOffImagesFolder(images);
      if (!Classify(folder, images)) {
        unlabelled.push_back(folder);
      }
    }
    for (const std::string_view folder : unlabelled) {
      if (SplitNamed(folder) != "test" || unlabelled.size() == splits.size()) {
        throw UsageError(
            PathOf(folder) +
            ": its images are in no class folders: " + kLayoutsHelp +
            (files_.root.ends_with('#')  // An archive has no such flags.
                 ? ""
                 : OtherLayoutHint(files_.root, files_.others)));
      }
      layout_.notes.push_back(PathOf(folder) +
                              ": skipped, its images are in no class folders");
      splits.erase(folder);
    }
  }

  // Rejects images that a label file describes beside class folders: only some
  // were sorted. The folder of Tiny ImageNet's val/images/* would be a class.
  void RefuseHalfSorted(std::string_view folder,
                        const ImageRuns& images) const {
    const std::string_view labels = BaseName(LabelFileOf(folder));
    const auto flat = std::ranges::find_if(images, [&](const ImageRun& run) {
      return !HasFolder(run) || (labels == kAnnotationFile &&
                                 IsImagesFolder(FirstFolder(run.path)));
    });
    if (!labels.empty() && flat != images.end() &&
        std::ranges::any_of(images, HasFolder)) {
      throw UsageError(PathOf(folder) + "/" + std::string(flat->path) +
                       ": an image beside class folders, with " +
                       std::string(labels) +
                       ": sort all of them into class folders, or move all "
                       "back to this one");
    }
  }

  // Sets the classes of a split's images; false: they have none.
  bool Classify(std::string_view folder, ImageRuns& images) {
    RefuseHalfSorted(folder, images);
    if (ClassifyByFolder(PathOf(folder), images)) {
      return true;
    }
    const std::string_view labels = LabelFileOf(folder);
    if (labels.empty()) {
      return ClassifyByWord(images);
    }
    if (BaseName(labels) == kAnnotationFile) {
      ReadAnnotations(labels, images);
    } else {
      ReadSynsets(labels, PathOf(folder), images);
    }
    return true;
  }

  // Gives classes to images without any split.
  void ClassifyPlain(std::string_view shared, ImageRuns& images) {
    if (!ClassifyByFolder(files_.root + layout_.folder, images) &&
        !ClassifyByWord(images) && !IsImagesFolder(shared)) {
      for (ImageRun& image : images) {
        image.class_name = shared;
      }
    }
  }

  bool ClassifyByFolder(const std::string& folder, ImageRuns& images) {
    LeaveOutLoose(folder, images);
    RefuseImagesBesideMasks(folder, images);
    for (ImageRun& image : images) {
      image.class_name = FirstFolder(image.path);
    }
    if (!images.empty() && HasFolder(images.front())) {
      return true;
    }
    SeparateRuns(files_.images,
                 images);  // Names and label files tell the class of each.
    return false;
  }

  static bool ClassifyByWord(ImageRuns& images) {
    const bool have_words = std::ranges::all_of(
        images,
        [](const ImageRun& image) { return !WordOf(image.path).empty(); });
    for (ImageRun& image : images) {
      image.class_name = have_words ? WordOf(image.path) : std::string_view();
    }
    return have_words;
  }

  // The file with the classes of the images in a split's folder; "": none.
  [[nodiscard]] std::string_view LabelFileOf(std::string_view folder) const {
    const std::string inside = layout_.folder + std::string(folder) + "/" +
                               std::string(kAnnotationFile);
    const std::string beside = layout_.folder + std::string(kSynsetFile);
    std::string_view found;
    for (const std::string_view path : files_.others) {
      if (path == inside) {
        return path;
      }
      if (path == beside && SplitNamed(folder) == "validation") {
        found = path;
      }
    }
    return found;
  }

  void ReadSynsets(std::string_view path, const std::string& folder,
                   ImageRuns& images) {
    const DataError::Origin origin = {files_.root + std::string(path)};
    const std::vector<std::string> lines =
        CheckedLines(origin.path, files_.read(path));
    if (lines.size() != images.size()) {
      throw DataError(origin, "has " + std::to_string(lines.size()) +
                                  " lines, but " + folder + " has " +
                                  std::to_string(images.size()) + " images");
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].class_name = Kept(lines[i]);
    }
  }

  void ReadAnnotations(std::string_view path, ImageRuns& images) {
    const DataError::Origin origin = {files_.root + std::string(path)};
    std::map<std::string, std::string, std::less<>> classes;
    for (const std::string& line :
         CheckedLines(origin.path, files_.read(path))) {
      const std::size_t tab = line.find('\t');
      const std::size_t end = std::min(line.find('\t', tab + 1), line.size());
      if (tab == std::string::npos || end == tab + 1) {
        throw DataError(origin,
                        '"' + line + "\" is not a file, a tab and its class");
      }
      const std::string file = line.substr(0, tab);
      if (!classes.emplace(file, line.substr(tab + 1, end - tab - 1)).second) {
        throw DataError(origin, "has two lines for " + file);
      }
    }
    for (ImageRun& image : images) {
      const auto found = classes.find(BaseName(image.path));
      if (found == classes.end()) {
        throw DataError(origin, "has no line for " + std::string(image.path));
      }
      image.class_name = Kept(found->second);
    }
  }

  // A view of a copy that lives as long as this.
  std::string_view Kept(const std::string& name) {
    return *kept_.insert(name).first;
  }

  void Number(const std::map<std::string_view, ImageRuns>& splits) {
    std::map<std::string_view, std::string> texts;  // by name
    std::map<std::string, std::int32_t> numbers;    // by text
    for (const auto& [folder, images] : splits) {
      for (const ImageRun& image : images) {
        if (!image.class_name.empty() && !texts.contains(image.class_name)) {
          numbers.emplace(
              texts.emplace(image.class_name, NameText(image.class_name))
                  .first->second,
              0);
        }
      }
    }
    for (auto& [text, number] : numbers) {
      CheckClassName(text);  // It would be two lines of labels.txt.
      number = static_cast<std::int32_t>(layout_.classes.size());
      layout_.classes.push_back(text);
    }
    layout_.images.reserve(files_.images.size());
    for (std::size_t split = 0; split < kSplits.size(); ++split) {
      for (const auto& [folder, images] : splits) {
        if (SplitNamed(folder) == kSplits[split]) {
          Append(images, static_cast<std::int32_t>(split), texts, numbers);
        }
      }
    }
  }

  // Names classes that train lacks: a typing error in a label file makes one,
  // and one more folder around the classes of a split.
  void NoteForeignClasses() {
    std::vector<unsigned> uses(layout_.classes.size());  // a bit for each split
    unsigned all = 0;
    for (const LaidOutImage& image : layout_.images) {
      if (image.class_index >= 0) {
        uses[static_cast<std::size_t>(image.class_index)] |= 1U << image.split;
        all |= 1U << image.split;
      }
    }
    for (std::size_t split = 1; (all & 1U) != 0 && split < kSplits.size();
         ++split) {
      std::vector<std::string_view> foreign;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        if ((uses[i] & 1U << split) != 0 && (uses[i] & 1U) == 0) {
          foreign.push_back(layout_.classes[i]);
        }
      }
      if (!foreign.empty()) {
        layout_.notes.push_back(WithoutEnd(PathOf("")) + ": " +
                                ForeignText(kSplits[split], foreign));
      }
    }
  }

  static std::string ForeignText(std::string_view split,
                                 const std::vector<std::string_view>& classes) {
    constexpr std::size_t kNamed = 3;
    const std::string of = " of " + std::string(split);
    std::string text =
        CountText(classes.size(), "class" + of + " is not in train",
                  "classes" + of + " are not in train");
    for (std::size_t i = 0; i < std::min(classes.size(), kNamed); ++i) {
      text.append(i == 0 ? ": " : ", ").append(classes[i]);
    }
    return text + (classes.size() > kNamed ? ", ..." : "");
  }

  void Append(const ImageRuns& images, std::int32_t split,
              const std::map<std::string_view, std::string>& texts,
              const std::map<std::string, std::int32_t>& numbers) {
    std::string_view last;  // Most images have the class of the one before.
    std::int32_t number = -1;
    for (const ImageRun& image : images) {
      if (image.class_name != last) {
        last = image.class_name;
        number = last.empty() ? -1 : numbers.at(texts.at(last));
      }
      for (std::size_t i = 0; i < image.count; ++i) {
        layout_.images.push_back(
            {.file = image.file + i, .class_index = number, .split = split});
      }
    }
  }

  [[nodiscard]] std::string PathOf(std::string_view name) const {
    return files_.root + layout_.folder + std::string(name);
  }

  const TreeFiles& files_;
  std::set<std::string> kept_;
  ImageLayout layout_;
};

}  // namespace

bool IsLabelFile(std::string_view base_name) {
  return base_name == kSynsetFile || base_name == kAnnotationFile ||
         IsClassTextFile(base_name);
}

ImageLayout LayOutImages(const TreeFiles& files) {
  return LayoutMaker(files).Run();
}

}  // namespace infeed
