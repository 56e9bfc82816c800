#include "tools/images/voc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <pugixml.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"
#include "tools/cli/parallel_for.h"
#include "tools/images/annotations.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxXmlBytes = std::int64_t{16} << 20;
constexpr std::int64_t kMaxListBytes = std::int64_t{64} << 20;
constexpr double kMostPixels = 1e9;
constexpr std::string_view kImagesFolder = "JPEGImages/";
constexpr std::string_view kTrainval = "trainval";

// An image, and the paths of its annotations, within the folder.
struct VocImage {
  const FolderEntry* image = nullptr;
  std::string xml = {};
  std::string mask = {};  // empty: none
  std::string_view split = {};
};

// Reads the XML of an image.
class VocXml {
 public:
  VocXml(std::string_view xml, float first_pixel) : first_pixel_(first_pixel) {
    const pugi::xml_parse_result result =
        document_.load_buffer(xml.data(), xml.size());
    if (!result) {
      throw DataError("not XML at byte " + std::to_string(result.offset) +
                      ": " + result.description());
    }
    root_ = document_.document_element();
    if (std::strcmp(root_.name(), "annotation") != 0) {
      throw DataError("expected the XML element annotation, found '" +
                      std::string(root_.name()).substr(0, 60) + "'");
    }
  }

  [[nodiscard]] ImageObjects Read() const {
    ImageObjects image = {.format = AnnotationFormat::kVoc};
    if (const pugi::xml_node size = root_.child("size")) {
      image.width = static_cast<std::int64_t>(Number(size, "width"));
      image.height = static_cast<std::int64_t>(Number(size, "height"));
    }
    int number = 0;
    for (const pugi::xml_node& node : root_.children("object")) {
      ++number;
      try {
        image.objects.push_back(ReadObject(node));
      } catch (const DataError& error) {
        throw DataError("object " + std::to_string(number) + ": " +
                        error.reason());
      }
    }
    return image;
  }

 private:
  [[nodiscard]] AnnotatedObject ReadObject(const pugi::xml_node& node) const {
    const pugi::xml_node box = node.child("bndbox");
    AnnotatedObject object = {.text =
                                  NameText(Trimmed(node.child_value("name")))};
    if (object.text.empty()) {
      throw DataError("name is missing");
    }
    constexpr std::array<const char*, 4> kSides = {"xmin", "ymin", "xmax",
                                                   "ymax"};
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      object.box[i] = static_cast<float>(Number(box, kSides[i])) - first_pixel_;
    }
    const std::string_view difficult = Trimmed(node.child_value("difficult"));
    if (!difficult.empty() && difficult != "0" && difficult != "1") {
      throw DataError("difficult is neither 0 nor 1");
    }
    object.is_difficult = difficult == "1";
    return object;
  }

  static double Number(const pugi::xml_node& node, const char* name) {
    const std::string_view text = Trimmed(node.child_value(name));
    if (text.empty()) {
      throw DataError(std::string(name) + " is missing");
    }
    const std::optional<double> value = ReadNumber(text);
    if (!value || !(std::abs(*value) <= kMostPixels)) {
      throw DataError(std::string(name) + " is not a number: '" +
                      std::string(text.substr(0, 60)) + "'");
    }
    return *value;
  }

  pugi::xml_document document_;
  pugi::xml_node root_;
  float first_pixel_;
};

// Finds the images of a folder and their annotations.
class VocFolder {
 public:
  VocFolder(const std::string& folder, const AnnotationOptions& options)
      : root_(folder), folder_(folder), options_(options) {}

  std::vector<VocImage> Find() {
    std::set<std::string> bases = Devkits();
    if (bases.empty() && HasSet()) {
      bases.insert("");  // which says what is missing
    }
    for (const std::string& base : bases) {
      FindIn(base);
    }
    if (found_.empty()) {
      FindFlat();
    }
    return std::move(found_);
  }

  [[nodiscard]] const AnnotatedFolder& folder() const { return folder_; }
  // On what is left out.
  [[nodiscard]] std::vector<std::string> Notes() const {
    std::vector<std::string> notes = notes_;
    if (without_xml_ > 0) {
      notes.push_back("--voc: " + CountText(without_xml_, "image") +
                      " without an XML file left out");
    }
    if (unlisted_ > 0) {
      notes.push_back("--voc: " + CountText(unlisted_, "image") +
                      " with an XML file left out, as no list names them");
    }
    return notes;
  }

 private:
  // Whether --voc_set is given.
  [[nodiscard]] bool HasSet() const { return options_.voc_set != "Main"; }
  // The folders with JPEGImages/, each with a slash at its end, or "".
  [[nodiscard]] std::set<std::string> Devkits() const {
    std::set<std::string> bases;
    for (const FolderEntry& image : folder_.images()) {
      const std::size_t at = ("/" + image.name).find("/JPEGImages/");
      if (at != std::string::npos) {
        bases.insert(image.name.substr(0, at));
      }
    }
    return bases;
  }

  struct List {
    std::string file = {};
    std::string_view split = {};
  };

  void FindIn(const std::string& base) {
    const std::string in = base + "ImageSets/" + options_.voc_set + "/";
    std::vector<List> lists = ListsIn(in);
    for (const std::string& other : {base + "ImageSets/", base}) {
      if (lists.empty() && !HasSet()) {
        lists = ListsIn(other);
      }
    }
    const std::string xmls = base + "Annotations/";
    if (lists.empty()) {
      if (HasSet()) {
        throw UsageError(
            "--voc_set: " + PathForMessages(folder_.PathOf(in)) +
            " has no train.txt, val.txt, trainval.txt or test.txt");
      }
      NoteOtherLists(in);
      for (const std::string_view name : NamesOfXmls(xmls)) {
        Take(base, name, "", xmls + std::string(name) + ".xml");
      }
      return;
    }
    for (const List& list : lists) {
      TakeList(base, list);
    }
    for (const std::string_view name : NamesOfXmls(xmls)) {
      const FolderEntry* const image = folder_.FindImageOf(
          base + std::string(kImagesFolder) + std::string(name));
      unlisted_ += image != nullptr && !listed_.contains(image) ? 1 : 0;
    }
  }

  // The lists of splits in a folder. trainval counts without train and val.
  std::vector<List> ListsIn(const std::string& in) const {
    std::map<std::string_view, List> lists;
    for (const std::string& file : folder_.FilesIn(in)) {
      const std::string_view stem = WithoutExtension(BaseName(file));
      const std::string_view split =
          LowerCase(stem) == "trainval" ? kTrainval : SplitNamed(stem);
      if (split.empty() || LowerCase(Extension(file)) != "txt") {
        continue;
      }
      const auto [other, is_new] = lists.emplace(split, List{file, split});
      if (!is_new) {
        RefuseTwoNamesOf(split, PathForMessages(folder_.PathOf(in)),
                         std::string(BaseName(other->second.file)),
                         std::string(BaseName(file)));
      }
    }
    if (lists.contains("train") || lists.contains("validation")) {
      lists.erase(kTrainval);
    }
    std::vector<List> found;
    for (auto& [split, list] : lists) {
      list.split = split == kTrainval ? "" : split;
      found.push_back(std::move(list));
    }
    return found;
  }

  void NoteOtherLists(const std::string& in) {
    const std::vector<std::string> files = folder_.FilesIn(in);
    if (!files.empty()) {
      notes_.push_back("--voc: " + PathForMessages(folder_.PathOf(in)) +
                       " has no list that is named after a split (as " +
                       NameText(BaseName(files.front())) +
                       " is not): its lists are not read");
    }
  }

  // Of Annotations/NAME.xml, in whatever folder below it.
  [[nodiscard]] std::vector<std::string_view> NamesOfXmls(
      const std::string& xmls) const {
    std::vector<std::string_view> names;
    for (auto file = folder_.files().lower_bound(xmls);
         file != folder_.files().end() && file->starts_with(xmls); ++file) {
      if (file->ends_with(".xml")) {
        names.push_back(WithoutExtension(*file).substr(xmls.size()));
      }
    }
    return names;
  }

  void TakeList(const std::string& base, const List& list) {
    ForEachName(list, [&](std::string_view name, const std::string& origin) {
      Take(base, name, list.split, origin);
      listed_.insert(found_.back().image);
    });
  }

  // Calls take(name, origin). Lines are names, or paths of images; in the lists
  // of a class a number follows, in others the path of the XML.
  template <typename TakeName>
  void ForEachName(const List& list, const TakeName& take) const {
    int number = 0;
    for (const std::string& line :
         Lines(folder_.Read(list.file, kMaxListBytes))) {
      ++number;
      const std::string_view name = NameInList(
          std::string_view(line).substr(0, line.find_first_of(kBlanks)));
      if (!name.empty()) {
        take(name, list.file + ": line " + std::to_string(number));
      }
    }
  }

  static std::string_view NameInList(std::string_view name) {
    const std::size_t images = name.rfind(kImagesFolder);
    name.remove_prefix(images == name.npos ? 0 : images + kImagesFolder.size());
    return HasImageExtension(name) ? WithoutExtension(name) : name;
  }

  void Take(const std::string& base, std::string_view name,
            std::string_view split, const std::string& origin) {
    const auto path = [&](std::string_view in, const char* ending) {
      return base + std::string(in) + std::string(name) + ending;
    };
    VocImage voc = {.image = folder_.FindImageOf(path(kImagesFolder, "")),
                    .xml = path("Annotations/", ".xml"),
                    .split = split};
    Require(voc.image != nullptr, "image " + path(kImagesFolder, ".jpg"),
            origin);
    Require(folder_.files().contains(voc.xml), "file " + voc.xml, origin);
    const std::string mask = path("SegmentationClass/", ".png");
    voc.mask = folder_.FindImage(mask) == nullptr ? "" : mask;
    found_.push_back(std::move(voc));
  }

  void Require(bool is_there, const std::string& what,
               const std::string& origin) const {
    if (!is_there) {
      throw DataError({.path = PathForMessages(folder_.PathOf(origin))},
                      "there is no " + what);
    }
  }

  void FindFlat() {
    std::vector<std::string_view> paths;
    for (const FolderEntry& image : folder_.images()) {
      const std::string stem(WithoutExtension(image.name));
      std::vector<std::string> places = {stem + ".xml"};
      for (const char* other :
           {"annotations", "Annotations", "annotations/xmls"}) {
        places.push_back(WithFolder(places.front(), "images", other));
      }
      std::string xml = folder_.FirstOf(places);
      if (xml.empty()) {
        ++without_xml_;
      } else {
        found_.push_back({.image = &image, .xml = std::move(xml)});
        paths.push_back(image.name);
      }
    }
    const std::vector<std::string_view> splits = SplitsInPaths(root_, paths);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      found_[i].split = splits[i];
    }
    if (std::ranges::all_of(splits, &std::string_view::empty)) {
      DivideByLists();
    }
  }

  // Divides images beside their XMLs by lists in the folder, train among them.
  void DivideByLists() {
    const std::vector<List> lists = ListsIn("");
    if (std::ranges::none_of(lists, [](const List& list) {
          return list.split.empty() || list.split == "train";
        })) {
      return;
    }
    std::map<std::string_view, VocImage*> by_name;
    for (VocImage& voc : found_) {
      const std::string_view name = WithoutExtension(BaseName(voc.image->name));
      if (!by_name.emplace(name, &voc).second) {
        throw UsageError(PathForMessages(folder_.PathOf(lists.front().file)) +
                         ": there are several images " + NameText(name) +
                         ": sort the images into train/, val/ and test/");
      }
    }
    for (const List& list : lists) {
      ForEachName(list, [&](std::string_view name, const std::string& origin) {
        const auto voc = by_name.find(BaseName(name));
        Require(voc != by_name.end(), "image " + std::string(name), origin);
        if (!listed_.insert(voc->second->image).second) {
          throw DataError({.path = PathForMessages(folder_.PathOf(origin))},
                          NameText(name) + " is in a list already");
        }
        voc->second->split = list.split;
      });
    }
    unlisted_ = static_cast<std::int64_t>(std::erase_if(
        found_,
        [&](const VocImage& voc) { return !listed_.contains(voc.image); }));
  }

  const std::string& root_;
  AnnotatedFolder folder_;
  const AnnotationOptions& options_;
  std::vector<VocImage> found_;
  std::int64_t without_xml_ = 0;
  std::set<const FolderEntry*> listed_;
  std::int64_t unlisted_ = 0;  // images with an XML beside lists
  std::vector<std::string> notes_;
};

// Gives each object its label, and returns the names of all labels.
LabelNames AssignLabels(const AnnotationOptions& options,
                        std::vector<ImageObjects>& all) {
  LabelNames names;
  if (!options.class_list.empty()) {
    names = ReadLabelNames(options.class_list);
  } else {
    std::set<std::string> sorted;
    for (const ImageObjects& image : all) {
      for (const AnnotatedObject& object : image.objects) {
        sorted.insert(object.text);
      }
    }
    std::int64_t label = 0;
    for (const std::string& name : sorted) {
      names.emplace(++label, name);
    }
  }
  std::map<std::string_view, std::int64_t> labels;
  for (const auto& [label, name] : names) {
    labels.emplace(name, label);
  }
  for (ImageObjects& image : all) {
    for (AnnotatedObject& object : image.objects) {
      const auto label = labels.find(object.text);
      if (label == labels.end()) {
        throw DataError({.path = image.file},
                        "the class \"" + object.text + "\" is not in " +
                            PathForMessages(options.class_list));
      }
      object.label = label->second;
    }
  }
  return names;
}

}  // namespace

ImageObjects ParseVoc(std::string_view xml, const AnnotationOptions& options) {
  return VocXml(xml, options.voc_from_one ? 1.0F : 0.0F).Read();
}

ImageTree ReadVoc(const std::string& folder, const AnnotationOptions& options) {
  VocFolder voc(folder, options);
  const std::vector<VocImage> found = voc.Find();
  std::vector<ImageObjects> all(found.size());
  ParallelFor(found.size(), options.threads, [&](std::size_t i) {
    const std::string path = PathForMessages(voc.folder().PathOf(found[i].xml));
    InFile(path, [&] {
      all[i] = ParseVoc(voc.folder().Read(found[i].xml, kMaxXmlBytes), options);
    });
    all[i].file = path;
    all[i].source_id =
        std::string(BaseName(WithoutExtension(found[i].image->name)));
    all[i].mask =
        found[i].mask.empty() ? "" : voc.folder().PathOf(found[i].mask);
  });
  const LabelNames names = AssignLabels(options, all);
  AnnotatedImages images(options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    images.Add(found[i].split, voc.folder().FileOf(*found[i].image),
               std::move(all[i]));
  }
  ImageTree tree = images.Finish(names, "--voc");
  std::ranges::move(voc.Notes(), std::back_inserter(tree.notes));
  return tree;
}

}  // namespace infeed
