#include "coordinator/html/svg_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/html/svg.hpp"
#include "coordinator/report/diagnosis_parts.hpp"

namespace kernelpro::html {

namespace {

constexpr double roofline_width = 720;
constexpr double roofline_height = 400;
constexpr Frame roofline_frame = {.left = 60, .top = 34, .right = 490, .bottom = 352};
constexpr double line_height = 15;
constexpr double giga = 1e9;
constexpr double tera = 1e12;
// Roofs nearer to each other than that share a label.
constexpr double same_roof = 1.04;
constexpr double room_for_names = 0.46;        // of the width
constexpr std::size_t longest_roof_name = 33;  // what fits beside the plot

struct Unit {
  double size = giga;
  const char* name = "GFLOP/s";
};

struct Drawing {
  Scale x;
  Scale y;
  Unit unit;

  [[nodiscard]] Point at(double intensity, double flops) const {
    return {x.at(intensity), y.at(flops / unit.size)};
  }
};

bool is_drawable(double value) {
  return std::isfinite(value) && value > 0;
}

// Only what has a place on logarithmic axes.
RooflinePlot drawable(RooflinePlot plot) {
  std::erase_if(plot.marks, [](const RooflineMark& mark) {
    return !is_drawable(mark.intensity) || !is_drawable(mark.flops);
  });
  std::erase_if(plot.roofs, [](const ArithmeticRoof& roof) { return !is_drawable(roof.flops); });
  std::ranges::sort(plot.roofs, {}, &ArithmeticRoof::flops);
  return plot;
}

double main_roof(const RooflinePlot& plot) {
  const auto main = std::ranges::find(plot.roofs, true, &ArithmeticRoof::main);
  return main == plot.roofs.end() ? plot.roofs.back().flops : main->flops;
}

Drawing make_drawing(const RooflinePlot& plot) {
  const double ridge = main_roof(plot) / plot.bandwidth;
  const auto by_intensity = std::ranges::minmax(plot.marks, {}, &RooflineMark::intensity);
  const auto by_flops = std::ranges::minmax(plot.marks, {}, &RooflineMark::flops);
  const double least_x = std::min(ridge, by_intensity.min.intensity) / 12;
  // Names stand to the right of the marks, which leave them their part of the plot.
  const double farthest = by_intensity.max.intensity;
  const double most_x =
      std::max({8 * plot.roofs.back().flops / plot.bandwidth, 8 * ridge,
                farthest * std::pow(farthest / least_x, room_for_names / (1 - room_for_names))});
  const double most_y = std::max(plot.roofs.back().flops, by_flops.max.flops) * 2.2;
  const double least_y =
      std::min({by_flops.min.flops / 3, main_roof(plot) / 20, plot.bandwidth * least_x * 4});
  const Unit unit = most_y >= 2 * tera ? Unit{tera, "TFLOP/s"} : Unit{};
  return {{Scale::Kind::logarithmic, least_x, most_x, roofline_frame.left, roofline_frame.right},
          {Scale::Kind::logarithmic, least_y / unit.size, most_y / unit.size, roofline_frame.bottom,
           roofline_frame.top},
          unit};
}

std::string rate_text(double flops, const Unit& unit) {
  return fmt::format("{:.3g} {}", flops / unit.size, unit.name);
}

std::string bandwidth_text(double bandwidth) {
  return bandwidth >= tera ? fmt::format("{:.3g} TB/s", bandwidth / tera)
                           : fmt::format("{:.3g} GB/s", bandwidth / giga);
}

Markup memory_roof(const RooflinePlot& plot, const Drawing& drawing) {
  // From where it enters the roofline_frame up to the highest roof.
  const double begin =
      std::max(drawing.x.low(), drawing.y.low() * drawing.unit.size / plot.bandwidth);
  const double end = plot.roofs.back().flops / plot.bandwidth;
  const Point from = drawing.at(begin, begin * plot.bandwidth);
  const Point to = drawing.at(end, end * plot.bandwidth);
  const std::string text = "memory " + bandwidth_text(plot.bandwidth);
  // Above the line, where no mark can be, and so far up that there is room to the left.
  const Point near = {from.x + (to.x - from.x) * 0.8, from.y + (to.y - from.y) * 0.8};
  return titled(
      "roof memory", "the measured bandwidth of memory: " + text,
      line(from, to, "roof") + label({near.x - 10, near.y - 2}, "end", "roof-name", text));
}

// Roofs that lie on one another, as one.
struct RoofGroup {
  std::string names;
  double flops = 0;
  bool main = false;
};

std::vector<RoofGroup> grouped(const std::vector<ArithmeticRoof>& roofs) {
  std::vector<RoofGroup> out;
  for (const ArithmeticRoof& roof : roofs) {
    if (out.empty() || roof.flops > out.back().flops * same_roof) {
      out.push_back({roof.name, roof.flops, roof.main});
    } else {
      out.back().names += ", " + roof.name;
      out.back().flops = roof.main ? roof.flops : out.back().flops;
      out.back().main = out.back().main || roof.main;
    }
  }
  return out;
}

Markup arithmetic_roofs(const RooflinePlot& plot, const Drawing& drawing) {
  std::vector<RoofGroup> groups = grouped(plot.roofs);
  std::ranges::reverse(groups);  // downwards in the picture
  std::vector<double> heights;
  heights.reserve(groups.size());
  for (const RoofGroup& group : groups) {
    heights.push_back(drawing.y.at(group.flops / drawing.unit.size) + 4);
  }
  heights = spread(heights, line_height, roofline_frame.top, roofline_frame.bottom);
  Markup out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RoofGroup& group = groups[i];
    const Point from = drawing.at(group.flops / plot.bandwidth, group.flops);
    const std::string text = rate_text(group.flops, drawing.unit) + " " + group.names;
    const std::string kind = group.main ? "roof" : "roof other";
    out += titled(kind, "the measured rate of arithmetic: " + text,
                  line(from, {roofline_frame.right, from.y}, kind) +
                      line({roofline_frame.right, from.y},
                           {roofline_frame.right + 8, heights[i] - 4}, "leader") +
                      label({roofline_frame.right + 11, heights[i]}, "start", "roof-name",
                            shortened(text, longest_roof_name)));
  }
  return out;
}

// Names in a column beside the marks, apart from each other.
Markup marks(const RooflinePlot& plot, const Drawing& drawing) {
  std::vector<const RooflineMark*> downwards;
  downwards.reserve(plot.marks.size());
  for (const RooflineMark& mark : plot.marks) {
    downwards.push_back(&mark);
  }
  std::ranges::sort(downwards, {},
                    [](const RooflineMark* mark) { return std::pair(-mark->flops, mark); });
  std::vector<double> heights;
  double rightmost = roofline_frame.left;
  for (const RooflineMark* mark : downwards) {
    const Point at = drawing.at(mark->intensity, mark->flops);
    heights.push_back(at.y + 4);
    rightmost = std::max(rightmost, at.x);
  }
  heights = spread(heights, line_height, roofline_frame.top + 4, roofline_frame.bottom - 4);
  const double column = rightmost + 24;
  Markup out;
  for (std::size_t i = 0; i < downwards.size(); ++i) {
    const RooflineMark& one = *downwards[i];
    const Point at = drawing.at(one.intensity, one.flops);
    Markup inner = line(at, {column - 3, heights[i] - 4}, "leader");
    inner += one.best ? mark(Shape::circle, at, 9, "ring") : Markup();
    inner += mark(Shape::circle, at, 5, "mark passed");
    inner += label({column, heights[i]}, "start", one.best ? "speed" : "fate", one.name);
    out += titled(one.best ? "point best" : "point", one.title, inner);
  }
  return out;
}

Markup path_line(const RooflinePlot& plot, const Drawing& drawing) {
  std::vector<Point> points;
  points.reserve(plot.marks.size());
  for (const RooflineMark& mark : plot.marks) {
    points.push_back(drawing.at(mark.intensity, mark.flops));
  }
  return plot.path && points.size() > 1 ? polyline(points, "path") : Markup();
}

}  // namespace

Markup roofline_picture(const RooflinePlot& plot) {
  const RooflinePlot shown = drawable(plot);
  if (shown.marks.empty() || shown.roofs.empty() || !is_drawable(shown.bandwidth)) {
    return {};
  }
  const Drawing drawing = make_drawing(shown);
  const Markup inner =
      axes(roofline_frame, drawing.x, drawing.y, "operations for each byte of memory",
           std::string(drawing.unit.name) + ", logarithmic") +
      memory_roof(shown, drawing) + arithmetic_roofs(shown, drawing) + path_line(shown, drawing) +
      marks(shown, drawing);
  const std::string said =
      fmt::format("Roofline: {} of at most {} by arithmetic and {} by memory",
                  rate_text(shown.marks.back().flops, drawing.unit),
                  rate_text(main_roof(shown), drawing.unit), bandwidth_text(shown.bandwidth));
  return picture("roofline", roofline_width, roofline_height, said, inner);
}

}  // namespace kernelpro::html
