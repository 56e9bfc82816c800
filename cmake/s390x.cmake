# Toolchain of ./dev test foreign s390x, a big-endian CPU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)
set(root ${CMAKE_CURRENT_LIST_DIR}/../build/s390x/root)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x-static -L ${root})
# QEMU 7.2 gives a handler of SIGBUS another address than that of the access;
# damaged images may overflow sums, of which libjpeg-turbo has other samples
# without x86's vectors.
string(CONCAT INFEED_SKIPPED_TESTS
  "MappedFileTest.ReadsAsZerosWhereTheFileHasLostBytes:"
  "MappedFileTest.StartsUndamagedWhereADamagedOneWas:"
  "MappedFileTest.ThreadsMeetTheLossTogether:"
  "MappedShardsTest.AMappingThatLostBytesIsUsedNoMore:"
  "RecordStoreTest.AMappedFileThatLosesBytesIsRead:"
  "SeekFileTest.HasNoEntriesOnceItLosesItsBytes:"
  "SeekMutationTest.IndexNeverGivesAWrongPixel")
set(multiarch s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/foreign.cmake)
