#include "coordinator/task/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace kernelpro {
namespace {

// Walks declarations at namespace level and keeps the definitions of one function.
class Finder {
 public:
  Finder(const Tokens& tokens, const std::string& entry) : tokens_(tokens), entry_(entry) {}

  void scan() {
    Tokens declaration;
    int parentheses = 0;
    int inner = 0;  // braces of a default argument that are open
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      parentheses += token.text == "(" ? 1 : 0;
      parentheses -= token.text == ")" ? 1 : 0;
      const bool body = token.text == "{" && parentheses <= 0;
      const bool end = token.text == "}" && inner == 0 && !scopes_.empty();
      if (!body && !end && token.text != ";") {
        inner += token.text == "{" ? 1 : 0;
        inner -= token.text == "}" && inner > 0 ? 1 : 0;
        declaration.push_back(token);
        continue;
      }
      if (end) {
        leave();
      } else if (!body) {
        declare(declaration);
      } else if (!enter(declaration)) {
        define(declaration);
        i = closing(tokens_, i);
      }
      parentheses = 0;
      declaration.clear();
    }
  }

  [[nodiscard]] const std::vector<Definition>& found() const { return found_; }
  [[nodiscard]] bool declared() const { return declared_at_.has_value(); }
  [[nodiscard]] std::optional<std::size_t> declared_at() const { return declared_at_; }
  [[nodiscard]] bool declared_for_c() const { return declared_for_c_; }
  // Every function that is defined outside of classes.
  [[nodiscard]] const std::vector<std::string>& functions() const { return functions_; }

 private:
  // What is open around a declaration: a namespace or a block of extern "C".
  struct Scope {
    std::size_t outer_length = 0;  // of scope_ outside of it
    bool for_c = false;
  };

  void declare(const Tokens& declaration) {
    if (name_in(declaration)) {
      declared_at_ = declared_at_.value_or(declaration[0].offset);
      declared_for_c_ = declared_for_c_ || for_c_ > 0 || says_for_c(declaration);
    }
  }

  static bool says_for_c(const Tokens& declaration) {
    return declaration.size() > 1 && declaration[0].text == "extern" &&
           declaration[1].text == "\"C\"";
  }

  // The name before the first parameters of what may be a function's definition.
  void list(const Tokens& declaration) {
    static const std::set<std::string> others = {"class", "struct", "union", "enum", "="};
    for (std::size_t i = 0; i + 1 < declaration.size(); ++i) {
      const std::string& name = declaration[i].text;
      if (others.contains(name)) {
        return;
      }
      const bool callable = declaration[i].kind == Token::Kind::word &&
                            declaration[i + 1].text == "(" && !name.starts_with("__") &&
                            !is_macro_name(name);
      if (callable) {
        const bool kernel = contains(declaration, "__global__");
        functions_.push_back(scope_ + name + (kernel ? " (a kernel)" : ""));
        return;
      }
    }
  }

  // False where the braces of this declaration open no scope but a body.
  bool enter(const Tokens& declaration) {
    const bool is_namespace = contains(declaration, "namespace");
    const bool is_linkage = declaration.size() == 2 && declaration[0].text == "extern";
    if (!is_namespace && !is_linkage) {
      return false;
    }
    scopes_.push_back({scope_.size(), says_for_c(declaration)});
    for_c_ += scopes_.back().for_c ? 1 : 0;
    for (const Token& token : declaration) {
      if (is_namespace && token.kind == Token::Kind::word && token.text != "namespace" &&
          token.text != "inline") {
        scope_ += token.text + "::";
      }
    }
    return true;
  }

  void leave() {
    scope_.resize(scopes_.back().outer_length);
    for_c_ -= scopes_.back().for_c ? 1 : 0;
    scopes_.pop_back();
  }

  void define(const Tokens& declaration) {
    list(declaration);
    const auto at = name_in(declaration);
    if (!at) {
      return;
    }
    const auto open = static_cast<std::ptrdiff_t>(*at + 1);
    const auto close = static_cast<std::ptrdiff_t>(closing(declaration, *at + 1));
    found_.push_back({scope_ + declaration[*at].text,
                      Tokens(declaration.begin(), declaration.begin() + open - 1),
                      Tokens(declaration.begin() + open + 1, declaration.begin() + close),
                      declaration[*at].line, declaration[0].offset,
                      for_c_ > 0 || says_for_c(declaration)});
  }

  // Where the declaration names the function, with its parameters after it.
  [[nodiscard]] std::optional<std::size_t> name_in(const Tokens& declaration) const {
    for (std::size_t i = 0; i + 1 < declaration.size(); ++i) {
      const std::string& name = declaration[i].text;
      if (declaration[i + 1].text == "(" && (name == entry_ || scope_ + name == entry_) &&
          closing(declaration, i + 1) < declaration.size()) {
        return i;
      }
    }
    return {};
  }

  const Tokens& tokens_;
  const std::string& entry_;
  std::vector<Definition> found_;
  std::vector<std::string> functions_;
  std::optional<std::size_t> declared_at_;
  bool declared_for_c_ = false;
  std::vector<Scope> scopes_;
  std::string scope_;  // the open namespaces: "mine::"
  int for_c_ = 0;      // how many extern "C" blocks are open
};

std::string list_text(const std::vector<std::string>& functions) {
  constexpr std::size_t most = 12;
  if (functions.empty()) {
    return "no function is defined in it";
  }
  const std::vector<std::string> shown(
      functions.begin(),
      functions.begin() + static_cast<std::ptrdiff_t>(std::min(functions.size(), most)));
  return fmt::format("defined are {}{}", fmt::join(shown, ", "),
                     shown.size() < functions.size() ? ", …" : "");
}

}  // namespace

Result<Definition> find_definition(const Tokens& tokens, const std::string& entry,
                                   const std::string& file) {
  Finder finder(tokens, entry);
  finder.scan();
  if (finder.found().empty()) {
    const char* why = finder.declared() ? "is declared here but not defined"
                                        : "is not defined here outside a class";
    return make_error(ErrorKind::bad_input,
                      fmt::format("the function {} {}; name the file with its body (--from) and a "
                                  "free function (--entry); {}",
                                  entry, why, list_text(finder.functions())),
                      file);
  }
  if (finder.found().size() > 1) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("the function {} is defined {} times (lines {} and {}); give the "
                    "one meant a name of its own",
                    entry, finder.found().size(), finder.found()[0].line, finder.found()[1].line),
        file);
  }
  Definition definition = finder.found()[0];
  definition.first = std::min(finder.declared_at().value_or(definition.first), definition.first);
  definition.c_linkage = definition.c_linkage || finder.declared_for_c();
  return definition;
}

}  // namespace kernelpro
