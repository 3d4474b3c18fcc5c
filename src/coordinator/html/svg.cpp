#include "coordinator/html/svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kernelpro::html {

namespace {

constexpr int most_ticks = 8;

std::string points_text(const std::vector<Point>& points) {
  std::string out;
  for (const Point& point : points) {
    out += (out.empty() ? "" : " ") + place_text(point.x) + "," + place_text(point.y);
  }
  return out;
}

Markup polygon(const std::vector<Point>& points, const std::string& kind) {
  return element("polygon", {{"class", kind}, {"points", points_text(points)}}, Markup());
}

// Corners on a circle; the first at `turn`, in parts of a whole turn from the top.
std::vector<Point> corners(Point at, double radius, int count, double turn) {
  std::vector<Point> out;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * (turn + static_cast<double>(i) / count);
    out.push_back({at.x + radius * std::sin(angle), at.y - radius * std::cos(angle)});
  }
  return out;
}

}  // namespace

std::string place_text(double value) {
  // Two digits are finer than any screen; minus zero is zero.
  return fmt::format("{:.6g}", std::round(value * 100) / 100 + 0.0);
}

Markup picture(const std::string& kind, double width, double height, const std::string& label,
               const Markup& inner) {
  const Markup drawing =
      element("svg",
              {{"class", kind},
               {"viewBox", "0 0 " + place_text(width) + " " + place_text(height)},
               {"width", place_text(width)},
               {"height", place_text(height)},
               {"role", "img"},
               {"aria-label", label}},
              inner);
  return element("div", {{"class", "picture"}}, drawing);
}

Markup line(Point from, Point to, const std::string& kind) {
  return element("line",
                 {{"class", kind},
                  {"x1", place_text(from.x)},
                  {"y1", place_text(from.y)},
                  {"x2", place_text(to.x)},
                  {"y2", place_text(to.y)}},
                 Markup());
}

Markup polyline(const std::vector<Point>& points, const std::string& kind) {
  return element("polyline", {{"class", kind}, {"points", points_text(points)}}, Markup());
}

Markup label(Point at, const char* anchor, const std::string& kind, std::string_view text) {
  return element(
      "text",
      {{"class", kind}, {"x", place_text(at.x)}, {"y", place_text(at.y)}, {"text-anchor", anchor}},
      text);
}

Markup titled(const std::string& kind, std::string_view title, const Markup& inner) {
  return element("g", {{"class", kind}}, element("title", {}, title) + inner);
}

Markup axes(const Frame& frame, const Scale& x, const Scale& y, const std::string& x_name,
            const std::string& y_name) {
  Markup out;
  for (const double value : x.ticks(most_ticks)) {
    const double at = x.at(value);
    out += line({at, frame.top}, {at, frame.bottom}, "grid");
    out += label({at, frame.bottom + 16}, "middle", "tick", tick_text(value));
  }
  for (const double value : y.ticks(most_ticks)) {
    const double at = y.at(value);
    out += line({frame.left, at}, {frame.right, at}, "grid");
    out += label({frame.left - 6, at + 4}, "end", "tick", tick_text(value));
  }
  out += line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");
  out += line({frame.left, frame.top}, {frame.left, frame.bottom}, "axis");
  out += label({(frame.left + frame.right) / 2, frame.bottom + 34}, "middle", "name", x_name);
  out += label({0, frame.top - 12}, "start", "name", y_name);
  return out;
}

Markup mark(Shape shape, Point at, double radius, const std::string& kind) {
  switch (shape) {
    case Shape::circle:
      break;
    case Shape::diamond:
      return polygon(corners(at, radius * 1.2, 4, 0), kind);
    case Shape::square:
      return polygon(corners(at, radius * 1.25, 4, 0.125), kind);
    case Shape::triangle:
      return polygon(corners({at.x, at.y + radius * 0.25}, radius * 1.4, 3, 0), kind);
    case Shape::hexagon:
      return polygon(corners(at, radius * 1.1, 6, 0), kind);
  }
  return element("circle",
                 {{"class", kind},
                  {"cx", place_text(at.x)},
                  {"cy", place_text(at.y)},
                  {"r", place_text(radius)}},
                 Markup());
}

}  // namespace kernelpro::html
