#include "coordinator/html/outcome_look.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/report/sentences.hpp"
#include "coordinator/report/speed_text.hpp"

namespace kernelpro::html {

namespace {

constexpr Look looks[] = {
    {"passed", Shape::circle, "passed"},
    {"suspect", Shape::circle, "passed, in doubt"},
    {"wrong", Shape::diamond, "wrong results"},
    {"unbuilt", Shape::square, "did not build"},
    {"broken", Shape::triangle, "crashed, hung or would not start"},
    {"cheated", Shape::hexagon, "cheated"},
    {"silent", Shape::circle, "not judged: duplicate, under way or unwritten"}};

const Look& look_named(std::string_view kind) {
  return *std::ranges::find_if(looks, [&](const Look& look) { return look.kind == kind; });
}

Markup legend_mark(const Look& look) {
  constexpr double size = 18;
  return element("svg",
                 {{"width", place_text(size)},
                  {"height", place_text(size)},
                  {"viewBox", "0 0 18 18"},
                  {"aria-hidden", "true"}},
                 mark(look.shape, {size / 2, size / 2}, 6, std::string("mark ") + look.kind));
}

}  // namespace

const Look& look_of(const Node& node) {
  if (node.id == root_node) {
    return look_named("passed");
  }
  if (node.state != NodeState::judged) {
    return look_named("silent");
  }
  switch (node.outcome) {
    case Outcome::passed:
      return look_named(node.suspect ? "suspect" : "passed");
    case Outcome::incorrect:
    case Outcome::unstable:
      return look_named("wrong");
    case Outcome::build_failed:
      return look_named("unbuilt");
    case Outcome::cheated:
      return look_named("cheated");
    case Outcome::not_judged:
      return look_named("silent");
    case Outcome::launch_failed:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::out_of_memory:
      break;
  }
  return look_named("broken");
}

bool has_speed(const Node& node) {
  return node.id == root_node ||
         (node.state == NodeState::judged && node.outcome == Outcome::passed && node.speedup > 0);
}

std::string short_fate(const Node& node) {
  if (node.id == root_node) {
    return "1.00×";
  }
  if (has_speed(node)) {
    constexpr double large = 1000;
    return fmt::format("{}{:.{}f}×", node.at_least ? "≥ " : "", node.speedup,
                       node.speedup < large ? 2 : 0);
  }
  if (node.state == NodeState::duplicate) {
    return fmt::format("same as {}", node.same_as);
  }
  if (node.state != NodeState::judged) {
    std::string out(name_of(node.state));
    std::ranges::replace(out, '_', ' ');
    return out;
  }
  std::string out(name_of(node.outcome));
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string node_title(const Node& node) {
  if (node.id == root_node) {
    return "node 0: the baseline, speed-up 1.00";
  }
  std::string out = fmt::format("node {}", node.id);
  if (!node.move.empty()) {
    out += ": " + node.move + (node.site.empty() ? "" : " at " + node.site);
  }
  return fmt::format("{}, from node {}: it {}", out, node.parent, fate_text(node));
}

Markup legend(const std::vector<Node>& nodes) {
  Markup out;
  for (const Look& look : looks) {
    const auto count = std::ranges::count_if(
        nodes, [&](const Node& node) { return node.id != root_node && &look_of(node) == &look; });
    if (count > 0) {
      out += element("li", {},
                     legend_mark(look) + Markup::text(fmt::format(" {} {}", count, look.words)));
    }
  }
  return element("ul", {{"class", "legend"}}, out);
}

}  // namespace kernelpro::html
