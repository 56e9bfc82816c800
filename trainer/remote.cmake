# A run whose folders are in an object store. Free of LibTorch and entering no
# oneTBB, so that every sanitizer covers it.
infeed_library(trainer_remote
  SOURCES
    model_upload.cc
    outbox.cc
    remote_checkpoints.cc
    remote_exports.cc
    remote_folder.cc
    remote_model.cc
    remote_run.cc
    remote_weights.cc
    scratch_folder.cc
    sent_files.cc
    uploader.cc
    uploading_log.cc
  HEADERS
    model_upload.h
    outbox.h
    remote_checkpoints.h
    remote_exports.h
    remote_folder.h
    remote_model.h
    remote_run.h
    remote_weights.h
    run_storage.h
    scratch_folder.h
    sent_files.h
    uploader.h
    uploading_log.h
  PUBLIC infeed::trainer_report infeed::trainer_state
  PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
