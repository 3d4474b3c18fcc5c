#include "coordinator/rewrite/reached.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {

namespace {

const Names entries = {"kp_launch", "kp_prepare", "kp_state", "kp_workspace"};

// Of "mine::Blender::blend" the last part: calls may name less than definitions, and more.
std::string last_name(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

Names last_names(const Names& names) {
  Names out;
  for (const std::string& name : names) {
    out.insert(last_name(name));
  }
  return out;
}

Item as_text(const Item& item) {
  Item text;
  text.text = print_program(Program{"", {item}});
  return text;
}

// What an item names, itself included.
Names all_names(const Item& item) {
  return last_names(names_in(Program{"", {item}}));
}

// A function that is named, or text that names something which is: a class with its methods.
bool is_reached(const Item& item, const Names& own, const Names& reached) {
  return item.understood ? reached.contains(last_name(item.function.name)) : mentions(own, reached);
}

}  // namespace

Program only_reached(Program program) {
  std::vector<Names> names;
  names.reserve(program.items.size());
  for (const Item& item : program.items) {
    names.push_back(all_names(item));
  }
  if (std::ranges::none_of(names, [](const Names& own) { return own.contains("kp_launch"); })) {
    return program;
  }
  Names reached = entries;
  std::vector<bool> seen(program.items.size(), false);
  for (bool grown = true; std::exchange(grown, false);) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!seen[i] && is_reached(program.items[i], names[i], reached)) {
        seen[i] = grown = true;
        reached.insert(names[i].begin(), names[i].end());
      }
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!seen[i] && program.items[i].understood) {
      program.items[i] = as_text(program.items[i]);
    }
  }
  return program;
}

}  // namespace kernelpro
