#include <algorithm>
#include <ranges>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {

Result<Program> tile(const Program& program, const std::vector<Place>& band) {
  if (band.size() < 2) {
    return make_error(ErrorKind::bad_input, "no loops perfectly inside one another");
  }
  Program out = program;
  Names used = names_in(program);
  Body body = stmt_at(program, band.back()).body;
  for (const Place& place : band) {
    const Stmt& loop = stmt_at(program, place);
    if (!is_counted(loop)) {
      return make_error(ErrorKind::bad_input,
                        "the loop over " + loop_label(loop) + " does not count up by one");
    }
  }
  std::vector<Stmt> tiles;
  for (const Place& place : std::views::reverse(band)) {
    const Stmt& loop = stmt_at(program, place);
    const std::string type = mutable_type(loop.loop.type);
    const std::string size =
        add_tunable(out, "TILE_" + upper_case(loop.loop.variable), {8, 16, 32, 64, 128, 256}, 32);
    const Expr start = make_name(fresh_name(loop.loop.variable + "_tile", used), type);
    const Expr end = end_of(loop.loop);
    const Expr full = make_binary("+", start, make_name(size));
    Stmt point = make_loop(type, loop.loop.variable, start,
                           make_conditional(make_binary("<", full, end), full, end), make_number(1),
                           std::move(body));
    body = {std::move(point)};
    tiles.push_back(make_loop(type, start.text, loop.loop.lower, end, make_name(size), {}));
    tiles.back().loop.pragmas = loop.loop.pragmas;
  }
  for (Stmt& one : tiles) {
    one.body = std::move(body);
    body = {std::move(one)};
  }
  stmt_at(out, band.front()) = body[0];
  return out;
}

std::vector<Offer> offer_tile(const Program& program) {
  std::vector<Offer> offers;
  for (const Place& place : hot_loops(program)) {
    const std::vector<Place> band = perfect_band(program, place);
    for (std::size_t length = band.size(); length >= 2; --length) {
      std::vector<Place> part(band.begin(), band.begin() + static_cast<std::ptrdiff_t>(length));
      offers.push_back({site_label(program, part), "cut into tiles",
                        [program, part] { return tile(program, part); }});
    }
  }
  return offers;
}

}  // namespace kernelpro
