#include "coordinator/task/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

using Tokens = std::vector<Token>;

constexpr const char* supported =
    "supported are (const) T* or T name[] with T one of float, double, int, short, long, long "
    "long, signed char, unsigned char, the fixed-width types of these, __half and __nv_bfloat16; "
    "whole numbers of 32 or 64 bits by value; float and double by value; cudaStream_t. Write a "
    "function with such parameters that calls this one, and name that (--entry)";

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool words =
        !text.empty() && token.kind == Token::Kind::word &&
        (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
    text += (words ? " " : "") + token.text;
  }
  return text;
}

// As people write a declaration: "const float* x, int n".
std::string pretty(const Tokens& tokens) {
  static const std::set<std::string> tight = {",", ")", "(", "*", "&", "[", "]", "::", "<", ">"};
  std::string text;
  bool behind_word = false;
  for (const Token& token : tokens) {
    const bool word = !tight.contains(token.text);
    const bool behind_star = !text.empty() && (text.back() == '*' || text.back() == '&');
    text += word && (behind_word || behind_star) ? " " : "";
    text += token.text;
    text += token.text == "," ? " " : "";
    behind_word = word;
  }
  return text;
}

bool contains(const Tokens& tokens, const std::string& text) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.text == text; });
}

// Where the bracket opened at `open` closes; tokens.size() when it never does.
std::size_t closing(const Tokens& tokens, std::size_t open) {
  const std::string& opener = tokens[open].text;
  static const std::map<std::string, std::string> closers = {{"(", ")"}, {"{", "}"}, {"[", "]"}};
  const std::string& closer = closers.at(opener);
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].text == opener ? 1 : 0;
    depth -= tokens[i].text == closer ? 1 : 0;
    if (depth == 0) {
      return i;
    }
  }
  return tokens.size();
}

struct Definition {
  std::string function;
  Tokens before;      // return type and specifiers
  Tokens parameters;  // between the parentheses
  int line = 0;
  std::size_t offset = 0;
  bool c_linkage = false;
};

bool is_macro_name(const std::string& word) {
  return std::ranges::all_of(word,
                             [](unsigned char c) {
                               return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
                             }) &&
         std::ranges::any_of(word, [](unsigned char c) { return std::isupper(c) != 0; });
}

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

// The words of a type in alphabetical order, so that "long unsigned" is "unsigned long".
std::string normalised(const Tokens& type) {
  std::vector<std::string> words;
  for (const Token& token : type) {
    if (token.text != "std" && token.text != "::") {
      words.push_back(token.text);
    }
  }
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, " "));
}

// Element types a tensor may have, by normalised spelling; long has 64 bits on what we run on.
std::optional<DType> element_type(const std::string& type) {
  static const std::map<std::string, DType> types = {
      {"float", DType::f32},          {"double", DType::f64},       {"int", DType::i32},
      {"signed", DType::i32},         {"int signed", DType::i32},   {"int32_t", DType::i32},
      {"long", DType::i64},           {"int long", DType::i64},     {"long long", DType::i64},
      {"int long long", DType::i64},  {"int64_t", DType::i64},      {"ptrdiff_t", DType::i64},
      {"short", DType::i16},          {"int short", DType::i16},    {"int16_t", DType::i16},
      {"char signed", DType::i8},     {"int8_t", DType::i8},        {"char unsigned", DType::u8},
      {"uint8_t", DType::u8},         {"__half", DType::f16},       {"half", DType::f16},
      {"__nv_bfloat16", DType::bf16}, {"nv_bfloat16", DType::bf16},
  };
  const auto found = types.find(type);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

// Whole numbers that can hold any extent we draw.
bool is_axis_type(const std::string& type) {
  static const std::set<std::string> others = {
      "unsigned", "int unsigned", "uint32_t",          "long unsigned", "long long unsigned",
      "uint64_t", "size_t",       "int long unsigned", "ssize_t",       "int long long unsigned"};
  const auto element = element_type(type);
  return element == DType::i32 || element == DType::i64 || others.contains(type);
}

bool is_qualifier(const Token& token) {
  static const std::set<std::string> qualifiers = {"const", "restrict", "__restrict",
                                                   "__restrict__"};
  return qualifiers.contains(token.text);
}

// In `f(unsigned int)` the last word is no name.
bool is_type_word(const std::string& word) {
  static const std::set<std::string> words = {"char", "double", "float",  "int",
                                              "long", "short",  "signed", "unsigned"};
  return words.contains(word);
}

struct PlainParameter {
  Tokens type;  // without qualifiers
  std::string name;
  bool pointer = false;
  bool pointee_const = false;
};

// Without [[attributes]] and __attribute__((…)), wherever they stand.
Tokens without_attributes(const Tokens& tokens) {
  Tokens left;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    if ((tokens[i].text == "__attribute__" || tokens[i].text == "__declspec") && next == "(") {
      i = closing(tokens, i + 1);
    } else if (tokens[i].text == "[" && next == "[") {
      i = closing(tokens, i);
    } else {
      left.push_back(tokens[i]);
    }
  }
  return left;
}

// Takes a parameter apart; nothing when it has a form that is not supported.
std::optional<PlainParameter> take_apart(const Tokens& tokens) {
  PlainParameter plain;
  int stars = 0;
  int brackets = 0;
  bool named = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool last_word = i + 1 == tokens.size() || tokens[i + 1].text == "[";
    if (token.text == "[") {
      ++brackets;
      i = closing(tokens, i);
      if (i == tokens.size()) {
        return {};
      }
    } else if (token.text == "*") {
      ++stars;
    } else if (is_qualifier(token) || (stars > 0 && !last_word && is_macro_name(token.text))) {
      plain.pointee_const = plain.pointee_const || (token.text == "const" && stars == 0);
    } else if (last_word && !plain.type.empty() && token.kind == Token::Kind::word &&
               !is_type_word(token.text)) {
      plain.name = token.text;
      named = true;
    } else if (stars > 0 || named || (token.kind != Token::Kind::word && token.text != "::")) {
      return {};
    } else {
      plain.type.push_back(token);
    }
  }
  plain.pointer = stars + brackets == 1;
  return named && stars + brackets <= 1 ? std::optional(plain) : std::nullopt;
}

std::vector<Tokens> split_parameters(const Tokens& tokens) {
  std::vector<Tokens> list(1);
  int depth = 0;
  bool in_default = false;
  for (const Token& token : tokens) {
    const bool single = token.text.size() == 1;
    if (single && std::string_view("([<{").find(token.text) != std::string_view::npos) {
      ++depth;
    } else if (single && std::string_view(")]>}").find(token.text) != std::string_view::npos) {
      --depth;
    }
    if (token.text == "," && depth == 0) {
      list.emplace_back();
      in_default = false;
    } else if (token.text == "=" && depth == 0) {
      in_default = true;
    } else if (!in_default) {
      list.back().push_back(token);
    }
  }
  if (list.size() == 1 && (list[0].empty() || joined(list[0]) == "void")) {
    list.clear();
  }
  return list;
}

Result<EntryParameter> parse_parameter(const Tokens& tokens) {
  const auto refuse = [&](const std::string& why) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("`{}` {}; {}", joined(tokens), why, supported));
  };
  const auto plain = take_apart(without_attributes(tokens));
  if (!plain) {
    return refuse("is not a parameter that a task can pass");
  }
  const std::string type = normalised(plain->type);
  EntryParameter parameter;
  parameter.name = plain->name;
  parameter.type = joined(plain->type);
  const auto element = element_type(type);
  parameter.dtype = element.value_or(DType::f32);
  if (type == "char") {
    return refuse(
        "has the type char, whose sign differs between machines: say signed char or "
        "unsigned char");
  }
  if (plain->pointer && element) {
    parameter.role =
        plain->pointee_const ? EntryParameter::Role::input : EntryParameter::Role::output;
  } else if (!plain->pointer && element && is_floating(*element)) {
    parameter.role = EntryParameter::Role::scalar;
  } else if (!plain->pointer && is_axis_type(type)) {
    parameter.role = EntryParameter::Role::axis;
  } else if (!plain->pointer && (type == "cudaStream_t" || type == "CUstream")) {
    parameter.role = EntryParameter::Role::stream;
  } else if (!plain->pointer && type == "bool") {
    parameter.role = EntryParameter::Role::flag;
  } else if (plain->pointer && type == "void" && !plain->pointee_const) {
    parameter.role = EntryParameter::Role::untyped;
  } else {
    return refuse(plain->pointer ? "points to a type that tensors do not have"
                                 : "is not a type that a task can pass by value");
  }
  return parameter;
}

// What is left of the return type without specifiers, attributes and the macros that stand for
// them.
std::string return_type(const Tokens& before) {
  static const std::set<std::string> specifiers = {"static",          "inline",     "extern",
                                                   "__inline",        "__inline__", "__host__",
                                                   "__forceinline__", "constexpr"};
  const Tokens plain = without_attributes(before);
  Tokens left;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const Token& token = plain[i];
    if (is_macro_name(token.text)) {
      const bool called = i + 1 < plain.size() && plain[i + 1].text == "(";
      i = called ? closing(plain, i + 1) : i;
    } else if (!specifiers.contains(token.text) && token.kind != Token::Kind::text) {
      left.push_back(token);
    }
  }
  return joined(left);
}

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

Result<Definition> find_definition(const Finder& finder, const std::string& entry,
                                   const std::string& file) {
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
  return finder.found()[0];
}

// Why the definition cannot be an entry, whatever its parameters are.
Status check_callable(const Definition& definition, const std::string& entry,
                      const std::string& place) {
  if (contains(definition.before, "template")) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{} is a template; write a plain function that calls it with one "
                                  "type, and name that (--entry)",
                                  entry),
                      place);
  }
  if (contains(definition.before, "__global__") || contains(definition.before, "__device__")) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{} runs on the GPU; name the function of the host that launches "
                                  "it (--entry), or write one",
                                  entry),
                      place);
  }
  const std::string type = return_type(definition.before);
  if (type != "void" && type != "int" && type != "cudaError_t") {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{} returns `{}`; expected void, int with 0 for success, or "
                                  "cudaError_t: let it write its result through a pointer",
                                  entry, type),
                      place);
  }
  return {};
}

}  // namespace

std::string last_name(const std::string& function) {
  const std::size_t scope = function.rfind(':');
  return scope == std::string::npos ? function : function.substr(scope + 1);
}

Result<Signature> parse_signature(const std::string& source, const std::string& entry,
                                  const std::string& file) {
  Tokens tokens = lex_cpp(source);
  std::erase_if(tokens, [](const Token& token) { return !token.directive.empty(); });
  Finder finder(tokens, entry);
  finder.scan();
  KP_LET(auto definition, find_definition(finder, entry, file));
  const std::string place = fmt::format("{}:{}", file, definition.line);
  KP_TRY(check_callable(definition, entry, place));
  Signature signature;
  signature.function = definition.function;
  signature.returns = return_type(definition.before);
  signature.line = definition.line;
  signature.first = std::min(finder.declared_at().value_or(definition.offset), definition.offset);
  signature.c_linkage = definition.c_linkage || finder.declared_for_c();
  std::vector<std::string> texts;
  const auto parameters = split_parameters(definition.parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto parameter = parse_parameter(parameters[i]);
    if (!parameter.ok()) {
      return make_error(ErrorKind::bad_input, parameter.error().message,
                        fmt::format("{}: parameter {} of {}", place, i + 1, entry));
    }
    signature.parameters.push_back(*std::move(parameter));
    Tokens written = without_attributes(parameters[i]);
    for (Token& token : written) {
      token.text = token.text == "restrict" ? "__restrict__" : token.text;
    }
    texts.push_back(pretty(written));
  }
  const std::size_t scope = signature.function.rfind(':');
  signature.text = fmt::format(
      "{}{} {}({})", signature.c_linkage ? "extern \"C\" " : "", signature.returns,
      scope == std::string::npos ? signature.function : signature.function.substr(scope + 1),
      fmt::join(texts, ", "));
  return signature;
}

}  // namespace kernelpro
