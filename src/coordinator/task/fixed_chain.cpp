#include "coordinator/task/fixed_chain.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "coordinator/task/lexer.hpp"

namespace kernelpro {
namespace {

using Fixed = std::map<std::string, std::string>;

bool is_one_word(const std::string& text) {
  return lex_cpp(text).size() == 1;
}

// `text` with what each fixed name stands for.
std::string replaced(const std::string& text, const Fixed& fixed) {
  std::vector<Edit> edits;
  for (const Token& token : lex_cpp(text)) {
    const auto known = token.kind == Token::Kind::word ? fixed.find(token.text) : fixed.end();
    if (known != fixed.end()) {
      const std::string& value = known->second;
      edits.push_back({token.offset, token.text.size(),
                       is_one_word(value) || is_one_word(text) ? value : "(" + value + ")"});
    }
  }
  return apply_edits(text, edits);
}

}  // namespace

Status resolve_fixed(NewTask& request) {
  const Fixed said = request.fixed;
  for (auto& [name, value] : request.fixed) {
    for (std::size_t step = 0; replaced(value, said) != value; ++step) {
      if (step > said.size()) {
        return make_error(ErrorKind::bad_input,
                          "it depends on itself; say what it is in sizes that are not fixed",
                          fmt::format("--fix {}={}", name, said.at(name)));
      }
      value = replaced(value, said);
    }
  }
  for (auto& [tensor, shape] : request.shapes) {
    for (std::string& extent : shape) {
      extent = replaced(extent, request.fixed);
    }
  }
  for (auto& [axis, formula] : request.derived) {
    formula = replaced(formula, request.fixed);
  }
  request.flops = replaced(request.flops, request.fixed);
  request.reduction = replaced(request.reduction, request.fixed);
  return {};
}

}  // namespace kernelpro
