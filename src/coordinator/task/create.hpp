// Writes a task around a user's own function.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// Of --reference: what the function computes today is right.
inline constexpr const char* original_reference = "original";

struct NewTask {
  std::string name;
  std::filesystem::path source;                            // --from
  std::filesystem::path root;                              // headers are named as seen from there
  std::string entry;                                       // --entry
  std::map<std::string, std::vector<std::string>> shapes;  // --shape A=m,k
  std::vector<std::string> inouts;                         // --inout y: read and written
  std::vector<std::string> only_read;                      // --input w: read, though not const
  std::vector<std::string> workspaces;                     // --workspace tmp: scratch memory
  std::map<std::string, std::string> fixed;                // --fix lda=k: always passed so
  std::string reference;                                   // --reference: a file, or the above
  std::map<std::string, std::string> values;               // --values idx=index:n
  std::string flops;                                       // --flops "2*m*n*k"
  std::string reduction;                                   // --reduction k
  std::filesystem::path directory;                         // where the task folder is made
  std::string folder;                                      // of that name there; empty: `name`
  std::map<std::string, std::string> derived;              // --axis nnz=rows*16: not given
  std::vector<std::string> more_axes;                      // sizes that the function does not take
  std::map<std::string, std::int64_t> sizes;               // --size n=96: what is timed
  std::map<std::string, AxisRange> held_out;               // --held-out n=3:40
  std::vector<std::string> flags;                          // -I, -D and -std= of the user's build
  std::vector<std::string> options;                        // of the baseline; empty: -O2
};

// Reads the function's signature from the source (const pointers are inputs, other pointers
// outputs, whole numbers axes, floating numbers scalars), then writes DIRECTORY/NAME with
// task.toml, which maps the signature, the source as baseline and the reference: of a C++ source
// the same with `float` read as Real, of a CUDA source (.cu) none unless a file is named. Returns
// the folder. Errors say which flag settles what the signature leaves open; an existing folder is
// never written over.
[[nodiscard]] Result<std::filesystem::path> create_task(const NewTask& request);

// Whether the function's signature can be read as it is written, and the file defines no main().
[[nodiscard]] Status check_plain_source(const NewTask& request);

// A C++ source that says what is right, and how it is called: the body of a function of that
// declaration, in which `kp_own` takes the const off a pointer.
struct TrustedSource {
  std::string text;
  std::string declaration;
  std::string body;
};
inline constexpr const char* trusted_name = "kp_trusted";

// The same for a function that was read by a compiler. `bridge` is the plain function that calls
// it, empty where it is one itself; `heading` its declaration, for people. Its own source is the
// reference where that compiles over Real, else what it computes today is right; of a CUDA source
// `trusted` is, and must compile.
struct OwnTask {
  NewTask request;
  std::string bridge_declaration;
  std::string bridge;
  std::string heading;
  std::optional<TrustedSource> trusted;
  bool is_plain = false;  // the bridge changes no parameter
};
[[nodiscard]] Result<std::filesystem::path> create_own_task(const OwnTask& own);

// The folders that -I names.
[[nodiscard]] std::vector<std::filesystem::path> include_folders(
    const std::vector<std::string>& flags);

}  // namespace kernelpro
