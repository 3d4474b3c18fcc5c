// Libraries of headers that candidates may include beside the system's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// A library as users name it: `--include NAME=DIR`.
struct HeaderFolder {
  std::string name;
  std::string folder;  // absolute
  std::string hash;    // of all its files when a run began; empty: whatever is there
  std::string commit;  // of that day
};

// A library as it travels: every text file of its folder.
struct HeaderLibrary {
  std::string name;
  std::string commit;                           // of the checkout that it lies in; empty: none
  std::map<std::string, std::string> files;     // by their paths below the folder
  std::map<std::string, std::string> left_out;  // what candidates cannot include, and why
};

// What a build included of a library, directly or through its headers.
struct IncludedLibrary {
  std::string name;
  std::string commit;
  std::string hash;                          // of `files`
  std::map<std::string, std::string> files;  // SHA-256 by path
};

// A plain name, since it becomes a folder and part of a variable's name: letters, digits and _.
[[nodiscard]] Status check_library_name(const std::string& name);

// Nothing in it leads out of the folder that it is laid into.
[[nodiscard]] Status check_library(const HeaderLibrary& library);

// The part of `library` that `paths` name; those it does not have are passed over.
[[nodiscard]] IncludedLibrary included_part(const HeaderLibrary& library,
                                            const std::vector<std::string>& paths);

// The part of `library` that a build included when it was as `before` says.
[[nodiscard]] IncludedLibrary same_part(const HeaderLibrary& library,
                                        const IncludedLibrary& before);

// All of it, as if everything were included.
[[nodiscard]] IncludedLibrary whole_of(const HeaderLibrary& library);

// How one differs from the other, in a line for people; empty when the files are equal.
[[nodiscard]] std::string difference_of(const std::vector<IncludedLibrary>& before,
                                        const std::vector<IncludedLibrary>& now);

// "cutlass at commit 7107b05 (141 headers, hash 0123456789ab)".
[[nodiscard]] std::string text_of(const IncludedLibrary& library);

}  // namespace kernelpro
