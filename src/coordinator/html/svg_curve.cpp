#include "coordinator/html/svg_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/html/outcome_look.hpp"
#include "coordinator/html/svg.hpp"

namespace kernelpro::html {

namespace {

constexpr double curve_width = 720;
constexpr double curve_height = 300;
constexpr Frame curve_frame = {.left = 56, .top = 34, .right = 704, .bottom = 256};
constexpr double foot_height = 26;
constexpr double foot = curve_frame.bottom - foot_height / 2;  // where failures stand
// What is slower than that is drawn at the edge: how slow it is matters little.
constexpr double least_shown = 0.1;
constexpr std::size_t most_large_marks = 150;

Scale speed_scale(const std::vector<const Node*>& evaluations, const std::vector<double>& best,
                  bool failed) {
  double low = 1;
  double high = std::max(1.0, best.back());
  for (const Node* node : evaluations) {
    if (has_speed(*node) && std::isfinite(node->speedup)) {
      low = std::min(low, node->speedup);
      high = std::max(high, node->speedup);
    }
  }
  low = std::max(low, least_shown);
  // Room above and below, and never none at all.
  const double margin = std::max(std::pow(high / low, 0.06), 1.05);
  return {Scale::Kind::logarithmic, low / margin, high * margin,
          curve_frame.bottom - (failed ? foot_height : 0), curve_frame.top};
}

Scale turn_scale(std::size_t count) {
  return {Scale::Kind::linear, 0, static_cast<double>(std::max<std::size_t>(count, 1)),
          curve_frame.left, curve_frame.right - 8};
}

// Level until the evaluation that raises it.
Markup best_line(const std::vector<double>& best, const Scale& x, const Scale& y) {
  std::vector<Point> points = {{x.at(0), y.at(1)}};
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double at = x.at(static_cast<double>(i + 1));
    points.push_back({at, points.back().y});
    points.push_back({at, y.at(best[i])});
  }
  return polyline(points, "best-line");
}

Markup evaluation_mark(const RunReport& report, const Node& node, double x, const Scale& y,
                       double radius) {
  const Look& look = look_of(node);
  const Point at = {x, has_speed(node) ? y.at(node.speedup) : foot};
  Markup marks;
  if (node.id == report.best) {
    marks += mark(Shape::circle, at, radius + 4, "ring");
  }
  marks += mark(look.shape, at, radius, std::string("mark ") + look.kind);
  return titled("evaluation", node_title(node), marks);
}

}  // namespace

Markup progress_picture(const RunReport& report) {
  const std::vector<const Node*> evaluations = evaluations_in_order(report.nodes);
  if (evaluations.empty() || report.progress.size() != evaluations.size()) {
    return {};
  }
  const bool failed =
      std::ranges::any_of(evaluations, [](const Node* node) { return !has_speed(*node); });
  const Scale x = turn_scale(evaluations.size());
  const Scale y = speed_scale(evaluations, report.progress, failed);
  const double radius = evaluations.size() > most_large_marks ? 3 : 5;
  Markup inner = axes(curve_frame, x, y, "evaluations", "times as fast as the baseline");
  inner += line({curve_frame.left, y.at(1)}, {curve_frame.right, y.at(1)}, "baseline");
  inner += best_line(report.progress, x, y);
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    inner += evaluation_mark(report, *evaluations[i], x.at(static_cast<double>(i + 1)), y, radius);
  }
  if (failed) {
    inner += label({curve_frame.left - 6, foot + 4}, "end", "tick", "failed");
  }
  const std::string said =
      fmt::format("The best of {} evaluations over their number, up to {:.2f} times the baseline",
                  evaluations.size(), report.progress.back());
  return picture("curve", curve_width, curve_height, said, inner);
}

}  // namespace kernelpro::html
