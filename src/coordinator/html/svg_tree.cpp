#include "coordinator/html/svg_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "coordinator/html/outcome_look.hpp"
#include "coordinator/html/svg.hpp"

namespace kernelpro::html {

namespace {

constexpr double column_width = 66;
constexpr double row_height = 27;
constexpr double tree_left = 24;
constexpr double tree_top = 40;     // room for the speed-ups of the way to the best
constexpr double node_radius = 10;  // room for three digits
constexpr double label_room = 110;  // room for what stands beside the last column

struct Place {
  int depth = 0;
  int row = 0;
};

class Layout {
 public:
  explicit Layout(const RunReport& report) {
    for (const Node* node : lineage_of(report.nodes, report.best)) {
      best_.insert(node->id);
    }
    for (const Node& node : report.nodes) {
      if (node.parent < node.id && node.parent >= root_node) {
        children_[node.parent].push_back(node.id);
      }
    }
    for (auto& [parent, children] : children_) {
      std::ranges::sort(children, [this](NodeId a, NodeId b) {
        return std::pair(!best_.contains(a), a) < std::pair(!best_.contains(b), b);
      });
    }
    // Whoever has no known parent begins a tree of its own.
    for (const Node& node : report.nodes) {
      if (node.parent >= node.id || find_node(report.nodes, node.parent) == nullptr) {
        place_tree(node.id);
      }
    }
  }

  [[nodiscard]] bool on_best_path(NodeId id) const { return best_.contains(id); }
  [[nodiscard]] bool is_leaf(NodeId id) const { return !children_.contains(id); }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] Point at(NodeId id) const {
    const Place& place = places_.at(id);
    return {tree_left + column_width * place.depth, tree_top + row_height * place.row};
  }

 private:
  // Depth first, without recursion: damaged records may be deep.
  void place_tree(NodeId root) {
    std::vector<std::pair<NodeId, int>> open = {{root, 0}};
    bool fresh = true;  // whether the next node begins a row
    while (!open.empty()) {
      const auto [id, depth] = open.back();
      open.pop_back();
      rows_ += fresh ? 1 : 0;
      places_[id] = {depth, rows_ - 1};
      columns_ = std::max(columns_, depth + 1);
      const auto children = children_.find(id);
      fresh = children == children_.end();
      if (!fresh) {
        for (const NodeId child : std::ranges::reverse_view(children->second)) {
          open.emplace_back(child, depth + 1);
        }
      }
    }
  }

  std::set<NodeId> best_;
  std::map<NodeId, std::vector<NodeId>> children_;
  std::map<NodeId, Place> places_;
  int rows_ = 0;
  int columns_ = 0;
};

Markup edge(const Layout& layout, const Node& node) {
  const Point from = layout.at(node.parent);
  const Point to = layout.at(node.id);
  const bool best = layout.on_best_path(node.id);
  // Down the parent's column_width, then across.
  return polyline({{from.x, from.y}, {from.x, to.y}, {to.x, to.y}}, best ? "edge best" : "edge");
}

Markup node_mark(const RunReport& report, const Layout& layout, const Node& node) {
  const Point at = layout.at(node.id);
  const Look& look = look_of(node);
  const bool best = layout.on_best_path(node.id);
  Markup inner;
  if (node.id == report.best) {
    inner += mark(Shape::circle, at, node_radius + 4, "ring");
  }
  inner += mark(look.shape, at, node_radius, std::string("mark ") + look.kind);
  inner += label({at.x, at.y + 3.5}, "middle", node.id < 1000 ? "number" : "number small",
                 std::to_string(node.id));
  if (best) {
    inner += label({at.x, at.y - node_radius - 8}, "middle", "speed", short_fate(node));
  } else if (layout.is_leaf(node.id)) {
    inner += label({at.x + node_radius + 6, at.y + 4}, "start", "fate", short_fate(node));
  }
  const Markup link = element("a", {{"href", fmt::format("#node-{}", node.id)}}, inner);
  return titled(best ? "node best" : "node", node_title(node), link);
}

}  // namespace

Markup tree_picture(const RunReport& report) {
  if (report.nodes.empty()) {
    return {};
  }
  const Layout layout(report);
  Markup edges;
  Markup best_edges;
  Markup marks;
  for (const Node& node : report.nodes) {
    if (node.parent < node.id && find_node(report.nodes, node.parent) != nullptr) {
      (layout.on_best_path(node.id) ? best_edges : edges) += edge(layout, node);
    }
    marks += node_mark(report, layout, node);
  }
  const std::string said = fmt::format("The {} nodes of the search as a tree, the best is node {}",
                                       report.nodes.size(), report.best);
  return picture("tree", tree_left + column_width * (layout.columns() - 1) + label_room,
                 tree_top + row_height * layout.rows(), said, edges + best_edges + marks);
}

}  // namespace kernelpro::html
