// How a node looks in pictures and tables: one color and one shape for each kind of outcome.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/node.hpp"
#include "coordinator/html/svg.hpp"

namespace kernelpro::html {

struct Look {
  const char* kind;  // the class of the page's style
  Shape shape;
  const char* words;  // in legends
};

[[nodiscard]] const Look& look_of(const Node& node);

// Passed, not screened away, and so with a speed-up that a picture can show.
[[nodiscard]] bool has_speed(const Node& node);

// "3.21×", "at least 3.21×", "wrong", "duplicate of 4": what stands beside a node.
[[nodiscard]] std::string short_fate(const Node& node);

// "node 7: tile at loops i, j on node 3: it passed and runs …": what a node's title says.
[[nodiscard]] std::string node_title(const Node& node);

// The looks that occur, with how many nodes have each, the baseline aside.
[[nodiscard]] Markup legend(const std::vector<Node>& nodes);

}  // namespace kernelpro::html
