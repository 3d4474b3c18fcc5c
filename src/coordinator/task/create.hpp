// Writes a task around a user's own function.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// Of --reference: what the function computes today is right.
inline constexpr const char* original_reference = "original";

struct NewTask {
  std::string name;
  std::filesystem::path source;                            // --from
  std::string entry;                                       // --entry
  std::map<std::string, std::vector<std::string>> shapes;  // --shape A=m,k
  std::vector<std::string> inouts;                         // --inout y: read and written
  std::vector<std::string> workspaces;                     // --workspace tmp: scratch memory
  std::map<std::string, std::string> fixed;                // --fix lda=k: always passed so
  std::string reference;                                   // --reference: a file, or the above
  std::map<std::string, std::string> values;               // --values idx=index:n
  std::string flops;                                       // --flops "2*m*n*k"
  std::string reduction;                                   // --reduction k
  std::filesystem::path directory;                         // where the task folder is made
};

// Reads the function's signature from the source (const pointers are inputs, other pointers
// outputs, whole numbers axes, floating numbers scalars), then writes DIRECTORY/NAME with
// task.toml, which maps the signature, the source as baseline and the reference: of a C++ source
// the same with `float` read as Real, of a CUDA source (.cu) none unless a file is named. Returns
// the folder. Errors say which flag settles what the signature leaves open; an existing folder is
// never written over.
[[nodiscard]] Result<std::filesystem::path> create_task(const NewTask& request);

}  // namespace kernelpro
