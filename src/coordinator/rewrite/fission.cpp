#include <algorithm>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/jam.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// An array that both parts touch and a round writes where others write too; empty: none.
std::string shared_scratch(const Stmt& loop, const Body& first, const Body& second) {
  const Names declared = declared_in(loop.body);
  const Names varying = varying_names(loop);
  std::string found;
  (void)any_stmt(loop.body, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::assignment && !mentions(names_in(stmt.exprs[0]), varying)) {
      const std::string root = root_of(stmt.exprs[0]);
      const bool shared = !declared.contains(root) && names_in(first).contains(root) &&
                          names_in(second).contains(root);
      found = shared ? root : found;
    }
    return !found.empty();
  });
  return found;
}

}  // namespace

Result<Program> fission(const Program& program, const Place& place, std::size_t at) {
  const Stmt& loop = stmt_at(program, place);
  const auto refuse = [&](const std::string& why) {
    return make_error(ErrorKind::bad_input, "the loop over " + loop_label(loop) + " " + why);
  };
  if (!loop.loop.header.empty() || is_opaque(loop.body)) {
    return refuse("holds statements that are not understood");
  }
  if (at == 0 || at >= loop.body.size()) {
    return refuse("has too few statements to be two");
  }
  const auto middle = loop.body.begin() + static_cast<std::ptrdiff_t>(at);
  Stmt first = loop;
  first.body = {loop.body.begin(), middle};
  Stmt second = loop;
  second.body = {middle, loop.body.end()};
  for (const Stmt& stmt : first.body) {
    if (stmt.kind == Stmt::Kind::declaration && names_in(second.body).contains(stmt.text)) {
      return refuse("needs " + stmt.text + " in both parts of a round");
    }
  }
  for (const std::string& name : carried_scalars(loop)) {
    if (names_in(first.body).contains(name) && names_in(second.body).contains(name)) {
      return refuse("carries " + name + " from round to round through both parts");
    }
  }
  if (const std::string array = shared_scratch(loop, first.body, second.body); !array.empty()) {
    return refuse("uses the same elements of " + array + " in every round");
  }
  Program out = program;
  replace_at(out, place, {first, second});
  return out;
}

std::vector<Offer> offer_fission(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    const std::size_t count = stmt_at(program, place).body.size();
    for (std::size_t at = 1; at < std::max<std::size_t>(count, 2); ++at) {
      offers.push_back({site_label(program, {place}) + ", after statement " + std::to_string(at),
                        "one loop made two",
                        [program, place, at] { return fission(program, place, at); }});
    }
  }
  return offers;
}

}  // namespace kernelpro
