// Sources that may be worth a patch, judged in the user's own build.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/node.hpp"
#include "common/model/run.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

// As compilers take them: "-march=native" of "target".
[[nodiscard]] std::string options_text(std::vector<std::string> options);
// The same behind the compiler's name.
[[nodiscard]] std::string flags_text(const std::string& compiler,
                                     const std::vector<std::string>& options);

struct PatchVariant {
  std::string source;
  const Node* node = nullptr;  // whose code it is; the root: the user's own with other flags
};

// What a build with these options sees of a node's code: without OpenMP, no pragmas of it.
[[nodiscard]] std::string plain_code(const std::string& code,
                                     const std::vector<std::string>& options);

// A node's code for a build with `options`, the most promising first; also the original with what
// a source can carry of the node's flags for `function`, the user's. Nothing that is the original
// itself.
[[nodiscard]] std::vector<PatchVariant> variants(const std::string& original,
                                                 const std::string& changed, const Node& node,
                                                 const Node& root, Backend backend,
                                                 const std::string& function,
                                                 const std::vector<std::string>& options,
                                                 bool fast_math);

struct JudgedVariant {
  PatchVariant variant;
  double speedup = 0;
  bool faster = false;  // clear of measuring errors
};

// The variants that passed, built with the baseline's own flags; the fastest first.
[[nodiscard]] Result<std::vector<JudgedVariant>> judge_variants(
    const std::vector<PatchVariant>& sources, const Run& run, const ImplementationSpec& baseline,
    const Watcher& watcher, std::stop_token stop);

}  // namespace kernelpro
