infeed_library(converter
  SOURCES conversion_plan.cc conversion_text.cc converter.cc csv.cc
          data_split.cc duplicates.cc folder_listing.cc idx_file.cc
          image_encoder.cc image_manifest.cc image_tree.cc label_files.cc
          python_shuffle.cc raw_formats.cc raw_images.cc raw_sets.cc
          shard_converter.cc shard_plan.cc tree_union.cc
  HEADERS conversion_plan.h conversion_text.h converter.h csv.h data_split.h
          duplicates.h folder_listing.h idx_file.h image_encoder.h
          image_manifest.h image_tree.h label_files.h python_shuffle.h
          raw_formats.h raw_images.h raw_sets.h shard_converter.h shard_plan.h
          tree_union.h
  PUBLIC infeed::base infeed::records infeed::preprocess
  PRIVATE infeed::tools infeed::trainer_state fmt::fmt OpenSSL::Crypto)
infeed_program(imagenet_to_records
  SOURCES imagenet_to_records.cc input_flags.cc
  LIBRARIES infeed::converter infeed::tools infeed::trainer_state
            CLI11::CLI11)
