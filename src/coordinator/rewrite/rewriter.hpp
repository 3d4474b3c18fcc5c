// The mechanical transformations, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

struct Rewritten {
  std::string site;     // where: the function and its loops, "gemm: i, j"
  std::string summary;  // what was done there
  std::string source;   // the whole file
};

// In alphabetical order.
[[nodiscard]] std::vector<std::string> rewriter_names();

// The program rewritten at every sensible site, the most promising first and not more than a few.
// Arguments are the rewriter's own; `site` (all of them take it) keeps only sites that contain its
// value. A bad_input error says why the rewriter does not apply; an unknown name or argument lists
// the known ones. Whether a result computes the same is for the judge to decide.
[[nodiscard]] Result<std::vector<Rewritten>> rewrite(
    const std::string& name, const Program& program,
    const std::map<std::string, std::string>& arguments);

}  // namespace kernelpro
