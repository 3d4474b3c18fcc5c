#include "coordinator/task/function_name.hpp"

#include <cstddef>

#include "common/base/demangle.hpp"

namespace kernelpro {
namespace {

// At commas outside of brackets.
std::vector<std::string> split_types(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '<' || c == '(' || c == '[' ? 1 : 0;
    depth -= c == '>' || c == ')' || c == ']' ? 1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
  return text;
}

}  // namespace

std::string plain_name(const std::string& function) {
  const std::string whole = function.substr(0, function.find('<'));
  const std::size_t scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

Demangled take_apart_name(const std::string& mangled) {
  std::string text = without(without(demangled(mangled), "(anonymous namespace)::"), "__cxx11::");
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) {
    return {text, {}};
  }
  std::size_t open = close;
  for (int depth = 0; open > 0; --open) {
    depth += text[open] == ')' ? 1 : 0;
    depth -= text[open] == '(' ? 1 : 0;
    if (depth == 0) {
      break;
    }
  }
  Demangled out;
  const std::string list = text.substr(open + 1, close - open - 1);
  out.types = list.empty() ? std::vector<std::string>() : split_types(list);
  out.name = text.substr(0, open);
  // A template's instance begins with what it returns.
  int depth = 0;
  for (std::size_t i = out.name.size(); i-- > 0;) {
    depth += out.name[i] == '>' ? 1 : 0;
    depth -= out.name[i] == '<' ? 1 : 0;
    if (out.name[i] == ' ' && depth == 0) {
      out.name.erase(0, i + 1);
      break;
    }
  }
  return out;
}

}  // namespace kernelpro
