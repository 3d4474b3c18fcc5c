#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"

namespace kernelpro {
namespace {

// Other directives than pragmas choose between statements: such a function stays text.
bool has_conditions(const std::string& text) {
  return std::ranges::any_of(directives_in(text), [](const std::string& line) {
    return !trimmed(line.substr(1)).starts_with("pragma");
  });
}

void add_function(const AstNode& node, bool hidden, bool generic, const std::string& text,
                  std::vector<ConvertedFunction>& found) {
  const auto body = std::ranges::find(node.inner, "CompoundStmt", &AstNode::kind);
  if (body == node.inner.end() || node.begins_in_macro || node.ends_in_macro ||
      node.end > text.size() || text[body->begin] != '{' ||  // nobody wrote it
      has_conditions(text.substr(node.begin, node.end - node.begin))) {
    return;
  }
  ConvertedFunction one;
  one.begin = node.begin;
  one.end = node.end;
  one.function.name = node.name;
  one.function.signature = trimmed(text.substr(node.begin, body->begin - node.begin));
  one.function.result = plain_type(std::string(trimmed(node.type.substr(0, node.type.find('(')))));
  one.function.local =
      node.kind == "FunctionDecl" && (hidden || node.storage == "static") && !generic;
  one.function.generic = generic;
  for (const AstNode& child : node.inner) {
    if (child.kind == "ParmVarDecl") {
      one.function.parameters.push_back({child.name, known_type(child)});
    }
  }
  one.function.body = convert_body(*body, text);
  unshadow(one.function);
  found.push_back(std::move(one));
}

void add_functions(const AstNode& node, bool hidden, const std::string& text,
                   std::vector<ConvertedFunction>& found) {
  for (const AstNode& child : node.inner) {
    if (child.kind == "FunctionDecl" || child.kind == "CXXMethodDecl") {
      const bool generic = node.kind == "FunctionTemplateDecl";
      add_function(child, hidden, generic, text, found);
      if (generic) {
        break;  // its instances lie at the same place
      }
    } else if (child.kind == "NamespaceDecl") {
      add_functions(child, hidden || child.name.empty(), text, found);
    } else if (child.kind == "LinkageSpecDecl" || child.kind == "CXXRecordDecl" ||
               child.kind == "FunctionTemplateDecl") {
      add_functions(child, hidden, text, found);
    }
  }
}

}  // namespace

std::vector<ConvertedFunction> convert_functions(const std::vector<AstNode>& namespaces,
                                                 const std::string& text) {
  std::vector<ConvertedFunction> found;
  for (const AstNode& scope : namespaces) {
    add_functions(scope, false, text, found);
  }
  std::ranges::sort(found, {}, &ConvertedFunction::begin);
  return found;
}

}  // namespace kernelpro
