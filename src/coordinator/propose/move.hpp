// Moves: optimization ideas as files, one a file, for people and for the playbook.
//
//   ---
//   id: register_block
//   tier: nest
//   title: Keep a block of results in registers
//   when: option target; not after register_block
//   rewriter: register_block depth=2
//   gain: 2.5
//   chance: 0.6
//   classes: compute latency
//   ---
//   Advice in Markdown.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/node.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// One requirement of a move on the candidate it is applied to.
struct Condition {
  enum class Kind {
    option,    // the build options contain the value
    compiler,  // the compiler's name contains the value
    source,    // the source contains the value
    after,     // a move of that id lies on the way from the root
    policy,    // the user allows it: "fast_math"
    task,      // the task has it: "constant" inputs, "products" of matrices
  };

  bool wanted = true;  // false: "not …"
  Kind kind = Kind::option;
  std::string value;
};

struct RewriteStep {
  std::string rewriter;
  bool optional = false;  // "peel?": left out where it does not apply
  std::map<std::string, std::string> arguments;
};

struct Move {
  std::string id;
  std::string tier;  // build, pragmas, nest, tune or write
  std::string title;
  std::vector<Condition> when;       // all must hold
  std::vector<std::string> options;  // added to the build options; "!-O2" takes one away
  std::string compiler;              // built by this one instead
  // Of the room rewrite, one after the other ("peel? then register_block"); none: the source stays.
  // Of all but the last that applies the first site counts.
  std::vector<RewriteStep> rewriters;
  bool tune = false;                // one step of one tunable, up or down
  double gain = 1.1;                // the factor to expect where it works
  double chance = 0.3;              // how often it works where it applies
  std::vector<Bottleneck> classes;  // what it works against; empty: anything
  std::string advice;
  std::string example;  // tier write: a file that shows it, in the folder of examples
  std::string example_source;
};

// `file` is named in errors: file:line, the key, what was expected.
[[nodiscard]] Result<Move> parse_move(const std::string& text, const std::string& file);

// Whether an output element takes so many operations as only sums of products do.
[[nodiscard]] bool has_products(const Task& task, Backend backend);

// Whether the task has what the move says that it needs of one.
[[nodiscard]] bool suits(const Move& move, const Task& task, Backend backend);

// All moves of a folder, by file name. A malformed file is an error, and so are an id twice and an
// example that is not there. Examples of knowledge/moves/cuda are in knowledge/examples/cuda.
[[nodiscard]] Result<std::vector<Move>> load_moves(const std::filesystem::path& folder);

// The tier of moves that are advice alone: somebody has to write them, which the playbook cannot.
inline constexpr const char* written_tier = "write";

// The tiers in the order of rising effort.
[[nodiscard]] const std::vector<std::string>& move_tiers();

}  // namespace kernelpro
