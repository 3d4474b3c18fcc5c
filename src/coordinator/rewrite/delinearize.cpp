#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// An index as what stays the same in the loop and what does not; nothing when they cannot be
// parted.
struct Parts {
  Expr fixed = make_number(0);
  Expr moving = make_number(0);
};

std::optional<Parts> split(const Expr& index, const Names& changing) {
  if (!mentions(names_in(index), changing)) {
    return Parts{index, make_number(0)};
  }
  if (index.kind != Expr::Kind::binary || (index.text != "+" && index.text != "-")) {
    return Parts{make_number(0), index};
  }
  const std::optional<Parts> left = split(index.parts[0], changing);
  const std::optional<Parts> right = split(index.parts[1], changing);
  if (index.text == "-" && is_number(left->moving, 0)) {
    return Parts{make_number(0), index};
  }
  return Parts{make_binary(index.text, left->fixed, right->fixed),
               make_binary(index.text, left->moving, right->moving)};
}

}  // namespace

Result<Program> delinearize(const Program& program, const Place& place) {
  Program out = program;
  Stmt loop = stmt_at(program, place);
  Names changing = declared_in(loop.body);
  changing.insert(loop.loop.variable);
  for (const std::string& name : written_in(loop.body)) {
    changing.insert(name);
  }
  const Names local = declared_in(loop.body);
  const Names written = written_in(loop.body);
  Names used = names_in(program);
  std::map<std::string, std::string> rows;  // by what they point to
  Body pointers;
  for_each_expr(loop.body, [&](Expr& expr) {
    if (expr.kind != Expr::Kind::subscript || expr.parts[0].kind != Expr::Kind::name ||
        local.contains(expr.parts[0].text) || expr.parts[0].type.find('*') == std::string::npos) {
      return;
    }
    const std::optional<Parts> parts = split(expr.parts[1], changing);
    if (!parts || parts->fixed.kind == Expr::Kind::literal ||
        parts->fixed.kind == Expr::Kind::name || is_number(parts->moving, 0)) {
      return;
    }
    const std::string& array = expr.parts[0].text;
    const Expr start = make_binary("+", expr.parts[0], parts->fixed);
    std::string& row = rows[print_expr(start)];
    if (row.empty()) {
      row = fresh_name(array + "_row", used);
      const std::string type = element_type(expr.parts[0].type);
      pointers.push_back(
          make_declaration(type + (written.contains(array) ? "*" : "* __restrict"), row, {start}));
    }
    expr.parts = {make_name(row, expr.parts[0].type), parts->moving};
  });
  if (pointers.empty()) {
    return make_error(ErrorKind::bad_input, "no subscript in the loop over " + loop_label(loop) +
                                                " has a part that stays the same");
  }
  pointers.push_back(std::move(loop));
  replace_at(out, place, pointers);
  return out;
}

std::vector<Offer> offer_delinearize(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : innermost_loops(program)) {
    offers.push_back({site_label(program, loops_around(program, place)),
                      "pointers to rows in front of the loop",
                      [program, place] { return delinearize(program, place); }});
  }
  return offers;
}

}  // namespace kernelpro
