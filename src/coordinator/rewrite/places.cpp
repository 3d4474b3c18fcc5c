#include "coordinator/rewrite/places.hpp"

#include <algorithm>
#include <cctype>

#include "common/model/tunables.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/order.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {
namespace {

void add_loops(const Body& body, const Place& at, std::vector<Place>& found) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    Place here = at;
    here.path.push_back(i);
    if (body[i].kind == Stmt::Kind::loop) {
      found.push_back(here);
    }
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
      Place inside = here;
      inside.path.push_back(which);
      add_loops(which == 0 ? body[i].body : body[i].otherwise, inside, found);
    }
  }
}

// How many loops are nested at most in the list, those over lanes not counted.
int height_of(const Body& body, const Names& tunables) {
  int height = 0;
  for (const Stmt& stmt : body) {
    const int inside =
        std::max(height_of(stmt.body, tunables), height_of(stmt.otherwise, tunables));
    const bool counts = stmt.kind == Stmt::Kind::loop && !is_lane_loop(stmt, tunables);
    height = std::max(height, inside + (counts ? 1 : 0));
  }
  return height;
}

constexpr int far_down = 100;

int depth_of(const Program& program, const Place& place) {
  return static_cast<int>(loops_around(program, place).size()) -
         (is_alternative(place) ? far_down : 0);
}

}  // namespace

const Body& list_at(const Program& program, const Place& place) {
  const Body* list = &program.items[place.item].function.body;
  for (std::size_t i = 0; i + 1 < place.path.size(); i += 2) {
    const Stmt& stmt = (*list)[place.path[i]];
    list = place.path[i + 1] == 0 ? &stmt.body : &stmt.otherwise;
  }
  return *list;
}

Body& list_at(Program& program, const Place& place) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the program itself is not const.
  return const_cast<Body&>(list_at(static_cast<const Program&>(program), place));
}

const Stmt& stmt_at(const Program& program, const Place& place) {
  return list_at(program, place)[place.path.back()];
}

Stmt& stmt_at(Program& program, const Place& place) {
  return list_at(program, place)[place.path.back()];
}

void replace_at(Program& program, const Place& place, const Body& statements) {
  Body& list = list_at(program, place);
  const auto at = list.begin() + static_cast<std::ptrdiff_t>(place.path.back());
  list.insert(list.erase(at), statements.begin(), statements.end());
}

std::vector<Place> loops_of(const Program& program) {
  std::vector<Place> found;
  for (std::size_t i = 0; i < program.items.size(); ++i) {
    if (program.items[i].understood) {
      add_loops(program.items[i].function.body, Place{i, {}}, found);
    }
  }
  return found;
}

std::vector<Place> loops_around(const Program& program, const Place& place) {
  std::vector<Place> found;
  for (std::size_t length = 1; length <= place.path.size(); length += 2) {
    Place prefix{place.item,
                 {place.path.begin(), place.path.begin() + static_cast<std::ptrdiff_t>(length)}};
    if (stmt_at(program, prefix).kind == Stmt::Kind::loop) {
      found.push_back(std::move(prefix));
    }
  }
  return found;
}

std::vector<Place> innermost_loops(const Program& program) {
  const Names tunables = tunable_names(program);
  std::vector<Place> found;
  for (const Place& place : loops_of(program)) {
    const Stmt& loop = stmt_at(program, place);
    if (!is_lane_loop(loop, tunables) && height_of(loop.body, tunables) == 0) {
      found.push_back(place);
    }
  }
  best_first(found, [&](const Place& place) { return depth_of(program, place); });
  return found;
}

std::vector<Place> hot_loops(const Program& program) {
  const Names tunables = tunable_names(program);
  std::vector<std::pair<int, Place>> found;
  for (const Place& place : loops_of(program)) {
    const Stmt& loop = stmt_at(program, place);
    if (!is_lane_loop(loop, tunables)) {
      found.emplace_back(depth_of(program, place) + height_of(loop.body, tunables), place);
    }
  }
  best_first(found, [](const auto& one) { return one.first; });
  std::vector<Place> places;
  places.reserve(found.size());
  for (auto& [weight, place] : found) {
    places.push_back(std::move(place));
  }
  return places;
}

bool is_alternative(const Place& place) {
  for (std::size_t i = 1; i < place.path.size(); i += 2) {
    if (place.path[i] == 1) {
      return true;
    }
  }
  return false;
}

bool is_lane_loop(const Stmt& stmt, const Names& tunables) {
  return is_counted(stmt) && is_number(stmt.loop.lower, 0) &&
         stmt.loop.upper.kind == Expr::Kind::name && tunables.contains(stmt.loop.upper.text);
}

Names tunable_names(const Program& program) {
  Names names;
  const Result<std::vector<Tunable>> tunables = parse_tunables(print_program(program));
  if (tunables) {
    for (const Tunable& tunable : *tunables) {
      names.insert(tunable.name);
    }
  }
  return names;
}

bool is_counted(const Stmt& stmt) {
  return stmt.kind == Stmt::Kind::loop && stmt.loop.header.empty() && stmt.loop.advance == "+=" &&
         is_number(stmt.loop.step, 1) && stmt.loop.comparison.starts_with("<");
}

Expr end_of(const Loop& loop) {
  return loop.comparison == "<=" ? make_binary("+", loop.upper, make_number(1)) : loop.upper;
}

std::string loop_label(const Stmt& loop) {
  return loop.loop.header.empty() ? loop.loop.variable : loop.loop.header;
}

std::string site_label(const Program& program, const std::vector<Place>& loops) {
  std::string label;
  for (const Place& place : loops) {
    label += (label.empty() ? program.items[place.item].function.name + ": " : ", ") +
             loop_label(stmt_at(program, place));
  }
  return label;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  return text;
}

void add_to_head(Program& program, const std::string& text) {
  if (!program.head.empty() && !program.head.ends_with("\n")) {
    program.head += "\n";
  }
  program.head += text;
}

std::string add_tunable(Program& program, const std::string& wish,
                        const std::vector<std::int64_t>& values, std::int64_t current) {
  Names used = names_in(program);
  const std::string name = fresh_name(wish, used);
  std::string list;
  for (const std::int64_t value : values) {
    list += " " + std::to_string(value);
  }
  add_to_head(program, "\n// kp:tune " + name + " =" + list + "\nconstexpr int " + name + " = " +
                           std::to_string(current) + ";\n");
  return name;
}

void add_include(Program& program, const std::string& name) {
  const std::string line = "#include <" + name + ">\n";
  if (program.head.find(line) != std::string::npos) {
    return;
  }
  const std::size_t first = program.head.find("#include");
  program.head.insert(first == std::string::npos ? 0 : first, line);
}

}  // namespace kernelpro
