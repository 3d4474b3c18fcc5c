#include "coordinator/task/own_uses.hpp"

#include <algorithm>

#include "coordinator/task/clang_tree.hpp"

namespace kernelpro {
namespace {

// Of a type that can count calls.
bool is_number(const std::string& type) {
  static const std::set<std::string> names = {"int",   "unsigned int", "long", "unsigned long",
                                              "float", "double",       "bool", "long long"};
  return names.contains(type);
}

class Collector {
 public:
  explicit Collector(const nlohmann::json& function) {
    collect_own(function);
    collect_foreign(function);
  }

  OwnUses out;

 private:
  void collect_own(const nlohmann::json& node) {
    const std::string kind = tree::text_of(node, "kind");
    if (kind == "VarDecl" || kind == "ParmVarDecl" || kind == "BindingDecl") {
      own_.insert(tree::text_of(node, "id"));
      if (tree::text_of(node, "storageClass") == "static" && !node.contains("tls") &&
          is_number(tree::type_text(node))) {
        out.global = tree::text_of(node, "name");
      }
      if (tree::type_text(node).find("fstream") != std::string::npos) {
        out.outside = "a file stream";
      }
    }
    for (const nlohmann::json& child : tree::inner(node)) {
      collect_own(child);
    }
  }

  void collect_foreign(const nlohmann::json& node) {
    static const std::set<std::string> asking = {
        "fopen",  "fread", "fwrite", "fscanf", "scanf", "printf", "fprintf", "puts", "putchar",
        "getenv", "rand",  "srand",  "time",   "fgets", "open",   "read",    "exit", "system"};
    if (tree::text_of(node, "kind") == "CompoundAssignOperator" && !tree::inner(node).empty()) {
      const std::string type = tree::type_text(node);
      out.accumulates =
          out.accumulates || (tree::text_of(tree::inner(node)[0], "kind") == "DeclRefExpr" &&
                              (type == "float" || type == "double"));
    }
    const auto referenced = node.find("referencedDecl");
    if (referenced != node.end()) {
      const std::string kind = tree::text_of(*referenced, "kind");
      const std::string type = tree::type_text(*referenced);
      const std::string name = tree::text_of(*referenced, "name");
      const bool constant = type.starts_with("const ") || type.find(" const") != std::string::npos;
      if (kind == "VarDecl" && !own_.contains(tree::text_of(*referenced, "id")) && !constant) {
        out.global = name;
      } else if (kind == "FunctionDecl" || kind == "CXXMethodDecl") {
        out.called.insert(name);
      }
      if (kind == "FunctionDecl" && asking.contains(name)) {
        out.outside = name + "()";
      }
    }
    for (const nlohmann::json& child : tree::inner(node)) {
      collect_foreign(child);
    }
  }

  std::set<std::string> own_;
};

// Whether the node is the parameter itself, behind casts and parentheses.
bool is_parameter(const nlohmann::json& node, const std::string& id) {
  const std::string kind = tree::text_of(node, "kind");
  if (kind == "ImplicitCastExpr" || kind == "ParenExpr") {
    return !tree::inner(node).empty() && is_parameter(tree::inner(node)[0], id);
  }
  const auto referenced = node.find("referencedDecl");
  return referenced != node.end() && tree::text_of(*referenced, "id") == id;
}

}  // namespace

bool is_array(const nlohmann::json& function, const std::string& id) {
  static const std::set<std::string> moving = {"+", "+=", "++", "--"};
  const std::string kind = tree::text_of(function, "kind");
  const auto& parts = tree::inner(function);
  const bool moves =
      kind == "ArraySubscriptExpr" ||
      ((kind == "UnaryOperator" || kind == "BinaryOperator" || kind == "CompoundAssignOperator") &&
       moving.contains(tree::text_of(function, "opcode")));
  return std::ranges::any_of(parts, [&](const nlohmann::json& part) {
    return (moves && is_parameter(part, id)) || is_array(part, id);
  });
}

OwnUses uses_of(const nlohmann::json& function) {
  return Collector(function).out;
}

}  // namespace kernelpro
