# Two libraries of OpenCV that benchmarks use. OpenCV's package file fails if
# any library that it lists is missing.
find_path(INFEED_OPENCV_INCLUDE opencv2/core.hpp REQUIRED
  PATH_SUFFIXES opencv4)
foreach(part IN ITEMS core imgproc)
  find_library(INFEED_OPENCV_${part} opencv_${part} REQUIRED)
  add_library(opencv_${part} UNKNOWN IMPORTED)
  set_target_properties(opencv_${part} PROPERTIES
    IMPORTED_LOCATION ${INFEED_OPENCV_${part}}
    INTERFACE_INCLUDE_DIRECTORIES ${INFEED_OPENCV_INCLUDE})
endforeach()
