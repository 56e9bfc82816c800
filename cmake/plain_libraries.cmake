# Libraries without package files, as targets infeed::NAME. The installed package
# has this file, too.
foreach(name IN ITEMS isal utf8proc webp)
  if(NOT TARGET infeed::${name})
    string(TOUPPER INFEED_${name} library)
    find_library(${library} ${name} REQUIRED)
    add_library(infeed::${name} UNKNOWN IMPORTED)
    set_target_properties(infeed::${name} PROPERTIES
      IMPORTED_LOCATION ${${library}})
  endif()
endforeach()
