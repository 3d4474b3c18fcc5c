// Machine code written by hand, for tests: a line an instruction, labels as nvdisasm has them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/random.hpp"
#include "worker/profile/sass.hpp"

namespace kernelpro {

// "top:" is a label and "`(top)" names it.
inline std::string nvdisasm_text(const std::string& lines, const std::string& name = "kernel") {
  std::string text = "\t.target\tsm_90a\n\t.section\t.text." + name + ",\"ax\",@progbits\n";
  std::istringstream input(lines);
  std::string line;
  int offset = 0;
  while (std::getline(input, line)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) {
      continue;
    }
    line.erase(0, first);
    if (line.ends_with(':') || line.starts_with("//##")) {
      text += line + "\n";
      continue;
    }
    char place[32];
    std::snprintf(place, sizeof(place), "        /*%04x*/       ", offset);
    text += place + line + " ;\n";
    offset += 16;
  }
  return text;
}

inline std::vector<Instruction> assemble(const std::string& lines) {
  Result<std::vector<CodeFunction>> functions = parse_nvdisasm(nvdisasm_text(lines), {});
  if (!functions) {
    ADD_FAILURE() << functions.error().text();
    return {};
  }
  return std::move(functions->front().code);
}

// Cuts it off, takes pieces out or in, and puts in what means something in such a text.
inline std::string damaged(std::string text, Random& random) {
  constexpr std::array<std::string_view, 12> odd = {
      ";",         "/*",   "*/", "`(", ")", "[", "@!P", "\n", "0x", "\t.section\t.text.x",
      ".L_x_1:\n", "R9999"};
  const std::size_t changes = 1 + random.below(8);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    switch (random.below(8)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, random.below(200));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), random.below(200)));
        break;
      case 3:
        text[at] = static_cast<char>(random.below(256));
        break;
      default:
        text.insert(at, odd[random.below(odd.size())]);
    }
  }
  return text;
}

}  // namespace kernelpro
