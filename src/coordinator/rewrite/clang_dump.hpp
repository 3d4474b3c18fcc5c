// What clang says about a source: its syntax tree, as plain values.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

// A node of clang's tree. Places count bytes of the text that was compiled.
struct AstNode {
  std::string kind;  // clang's own word; empty: an absent part (the condition of `for (;;)`)
  std::string name;
  std::string opcode;
  std::string type;        // as written
  std::string meant_type;  // behind typedefs; empty: the same
  std::string storage;
  std::size_t begin = 0;
  std::size_t end = 0;    // one behind
  std::size_t place = 0;  // of a declaration's name
  bool begins_in_macro = false;
  bool ends_in_macro = false;
  bool arrow = false;
  bool has_init = false;      // of an if: more than a condition in its parentheses
  bool has_variable = false;  // likewise
  bool is_constexpr = false;
  bool is_inline = false;
  std::vector<AstNode> inner;
};

struct ClangDump {
  bool compiled = false;
  std::string diagnostics;          // when it did not
  std::vector<AstNode> namespaces;  // each piece of the namespace asked for
};

// An error only when clang could not be run; a source that does not compile is a value.
[[nodiscard]] Result<ClangDump> dump_namespace(const std::string& source, const std::string& name,
                                               const ParseSettings& settings, std::stop_token stop);

}  // namespace kernelpro
