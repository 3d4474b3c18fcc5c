// Machine code written by hand, for tests: a line an instruction; "top:" is a label and "`(top)"
// names it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/random.hpp"
#include "worker/profile/sass.hpp"

namespace kernelpro {

inline std::string cuobjdump_text(const std::string& lines) {
  std::string text = "\tcode for sm_90a\n\t\tFunction : kernel\n";
  std::istringstream input(lines);
  std::map<std::string, std::string> offsets;
  std::string line;
  int offset = 0;
  while (std::getline(input, line)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) {
      continue;
    }
    char place[32];
    if (line.ends_with(':')) {
      std::snprintf(place, sizeof(place), "0x%x", offset);
      offsets["`(" + line.substr(first, line.size() - 1 - first) + ")"] = place;
      continue;
    }
    std::snprintf(place, sizeof(place), "        /*%04x*/       ", offset);
    text += place + line.substr(first) + " ;\n";
    offset += 16;
  }
  for (const auto& [label, target] : offsets) {
    for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label)) {
      text.replace(at, label.size(), target);
    }
  }
  return text;
}

inline std::vector<Instruction> assemble(const std::string& lines) {
  Result<std::vector<CodeFunction>> functions = parse_cuobjdump(cuobjdump_text(lines), {});
  if (!functions) {
    ADD_FAILURE() << functions.error().text();
    return {};
  }
  return std::move(functions->front().code);
}

// Cuts it off, takes pieces out or in, and puts in what means something in such a text.
inline std::string damaged(std::string text, Random& random) {
  constexpr std::array<std::string_view, 12> odd = {
      ";",           "/*",   "*/", "`(", ")", "[", "@!P", "\n", "0x", "\t\tFunction : x\n",
      "\tcode for ", "R9999"};
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
