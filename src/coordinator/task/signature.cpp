#include "coordinator/task/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "coordinator/task/definition.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/token_list.hpp"

namespace kernelpro {
namespace {

constexpr const char* supported =
    "supported are (const) T* or T name[] with T one of float, double, int, short, long, long "
    "long, signed char, unsigned char, the fixed-width types of these, __half and __nv_bfloat16; "
    "whole numbers of 32 or 64 bits by value; float and double by value; cudaStream_t. Write a "
    "function with such parameters that calls this one, and name that (--entry)";

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

// The words of a type in alphabetical order, so that "long unsigned" is "unsigned long".
std::string normalized(const Tokens& type) {
  std::vector<std::string> words;
  for (const Token& token : type) {
    if (token.text != "std" && token.text != "::") {
      words.push_back(token.text);
    }
  }
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, " "));
}

// Element types a tensor may have, by normalized spelling; long has 64 bits on what we run on.
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
  const std::string type = normalized(plain->type);
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
  KP_LET(auto definition, find_definition(tokens, entry, file));
  const std::string place = fmt::format("{}:{}", file, definition.line);
  KP_TRY(check_callable(definition, entry, place));
  Signature signature;
  signature.function = definition.function;
  signature.returns = return_type(definition.before);
  signature.line = definition.line;
  signature.first = definition.first;
  signature.c_linkage = definition.c_linkage;
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
