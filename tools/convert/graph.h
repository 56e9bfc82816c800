#pragma once

#include <cstddef>
#include <memory>

#include "records/bytes/byte_source.h"
#include "tools/convert/record_maker.h"

namespace infeed {

struct ImageFile;

// An image on its way into its shard, or the end of a shard.
struct ConversionItem {
  std::size_t shard = 0;             // as the steps number them
  const ImageFile* image = nullptr;  // nullptr: the shard is complete
  // The image's object on its way; null where it is a file.
  std::unique_ptr<ByteSource> fetched = nullptr;
  ImageRecord record = {};  // made by Encode()
};

// The work of a conversion, without any knowledge of threads or order.
class ConversionSteps {
 public:
  virtual ~ConversionSteps() = default;
  // Sets shard and image of the next item: those of a shard together, its end
  // last. False: there are no more. One call at a time.
  virtual bool Next(ConversionItem& item) = 0;
  // Makes the record of an image. From several threads at once, in any order.
  virtual void Encode(ConversionItem& item) = 0;
  // Takes the record of an image. One call at a time, in the order of Next().
  virtual void Append(ConversionItem& item) = 0;
  // Completes a shard, all of whose images were appended. From several threads
  // at once, in any order.
  virtual void Finish(std::size_t shard) = 0;
};

struct ConversionGraphOptions {
  int threads = 1;           // that encode; > 0
  int images_in_flight = 4;  // begun and not yet appended; > 0
};

// Runs the steps on a oneTBB flow graph and returns when all is done:
//
//                 +------------- one more may enter --------------+
//                 v                                               |
//   Next ► ► ► limit ► Encode (parallel) ► in order ► Append ► Finish
//
// All cores have work whatever the shards are, many or one, as the items are
// images; memory is bounded by the images in flight. Finish() waits for the
// disk meanwhile, in one thread more than those that encode.
//
// What a step throws ends it: nothing further is begun, and the error comes out
// of this function, of several the first in the order of the items. So a bad
// image is the same one for any number of threads.
void RunConversionGraph(ConversionSteps& steps,
                        const ConversionGraphOptions& options);

}  // namespace infeed
