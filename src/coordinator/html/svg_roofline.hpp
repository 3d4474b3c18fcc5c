// Rooflines: how many operations a second there could be and are, over operations for each byte.
#pragma once

#include <string>
#include <vector>

#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

struct ArithmeticRoof {
  std::string name;   // "f32"
  double flops = 0;   // a second
  bool main = false;  // the one that the work is held against
};

struct RooflineMark {
  double intensity = 0;  // operations for each byte
  double flops = 0;      // a second
  std::string name;      // beside it
  std::string title;
  bool best = false;
};

struct RooflinePlot {
  double bandwidth = 0;  // bytes a second
  std::vector<ArithmeticRoof> roofs;
  std::vector<RooflineMark> marks;
  bool path = false;  // whether the marks are steps of one way, in their order
};

// Empty where there is no roof or no mark to show; marks that are not positive are left out.
[[nodiscard]] Markup roofline_picture(const RooflinePlot& plot);

}  // namespace kernelpro::html
