// Parts of pictures. Colors come from the page's style, by class.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/html/markup.hpp"
#include "coordinator/html/scale.hpp"

namespace kernelpro::html {

struct Point {
  double x = 0;
  double y = 0;
};

[[nodiscard]] std::string place_text(double value);  // a coordinate: "12.5"

// The picture as a whole; `label` is what those are told who cannot see it.
[[nodiscard]] Markup picture(const std::string& kind, double width, double height,
                             const std::string& label, const Markup& inner);

[[nodiscard]] Markup line(Point from, Point to, const std::string& kind);
[[nodiscard]] Markup polyline(const std::vector<Point>& points, const std::string& kind);
// `anchor`: start, middle or end.
[[nodiscard]] Markup label(Point at, const char* anchor, const std::string& kind,
                           std::string_view text);
// A group with a title, which browsers show for what is pointed at.
[[nodiscard]] Markup titled(const std::string& kind, std::string_view title, const Markup& inner);

// The area of a plot within a picture.
struct Frame {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Lines and values of both axes, and what the axes are.
[[nodiscard]] Markup axes(const Frame& frame, const Scale& x, const Scale& y,
                          const std::string& x_name, const std::string& y_name);

// Shapes for marks, so that colors are not needed to tell them apart.
enum class Shape { circle, diamond, square, triangle, hexagon };
[[nodiscard]] Markup mark(Shape shape, Point at, double radius, const std::string& kind);

}  // namespace kernelpro::html
