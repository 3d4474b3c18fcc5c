// A user's own function: from FILE:FUNCTION to a task, and from a run back to the user's file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/optimize.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/learn.hpp"

namespace kernelpro {

// "blur.cpp:image::blur" as a file and a function; nothing where it is no such thing.
struct OwnTarget {
  std::filesystem::path file;
  std::string function;
};
[[nodiscard]] std::optional<OwnTarget> parse_own_target(const std::string& text);

struct OwnRequest {
  OwnTarget target;
  NewTask wishes;                          // what the user said; without name and folder
  std::filesystem::path compile_commands;  // empty: looked for above the file
  std::filesystem::path store;             // the task lies in `tasks` there
  std::string command;                     // what the user typed, for lines to paste
  // Asks the user and returns what was answered: assignments of the question's flag, or nothing,
  // which takes the proposal. Empty: nobody can be asked.
  std::function<std::vector<std::string>(const Question& question)> ask;
};

struct OwnTaskMade {
  std::filesystem::path folder;
  bool fresh = false;              // it was made now
  std::vector<std::string> notes;  // what was chosen
  std::optional<Error> untried;    // why it could not be judged here
};

// A task of that file, function and flags; an old one is taken up as it is. A bad_input error names
// the flags that are missing.
[[nodiscard]] Result<OwnTaskMade> make_own_task(const OwnRequest& request, const Watcher& watcher,
                                                std::stop_token stop);

// Whether a call of the function or its reference failed, at sizes or values of the task; not that
// one of them does not build, or that the task cannot be read.
[[nodiscard]] bool is_of_a_call(const Error& error);

// `task new`: a task around the function as its signature says. A CUDA source whose text alone does
// not tell the signature (typedefs, macros, templates, a main() in the file) is read by clang.
[[nodiscard]] Result<std::filesystem::path> make_new_task(NewTask request, std::stop_token stop);

// What a run is worth to the user's own build.
struct OwnResult {
  std::string patch;                 // empty: no change of the source passed
  std::filesystem::path patch_file;  // where it was written; empty: nowhere
  double speedup = 0;       // of the patched file, built as the user builds it; 0: not known
  bool faster = false;      // clear of measuring errors
  std::string own_flags;    // what that build is
  double best_speedup = 0;  // of the run's best, with its flags; 0: there is none
  std::string best_flags;
  std::string missing_flags;        // those of them that the user's build has not
  std::optional<NodeId> best_node;  // where the best is another patch than the one written
  // Sentences: "the patch of node 7 differs from your function when x and y are the same array".
  std::vector<std::string> refused;
};

// Judges the best of the run once more, built with the baseline's own flags, and writes the patch
// to `patch_file`. On a processor it must do for every caller what the user's function does
// (callers.hpp); where it does not, the next best confirmed node takes its place. Where the best
// is no faster in that build, as one that needs threads, the fastest nodes without threads are
// judged there too, and the function itself with other flags; at last the best comes as a patch
// that needs flags. Nothing of the user's is changed.
[[nodiscard]] Result<OwnResult> finish_own_run(const RunReport& report,
                                               const std::filesystem::path& store,
                                               const std::filesystem::path& patch_file,
                                               const Watcher& watcher, std::stop_token stop);

}  // namespace kernelpro
