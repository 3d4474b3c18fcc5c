// What rooflines are drawn from: certificates of the nodes on a path, or the profile of a program.
#pragma once

#include <string>
#include <vector>

#include "common/model/certificate.hpp"
#include "common/model/node.hpp"
#include "common/model/profile.hpp"
#include "coordinator/html/svg_roofline.hpp"

namespace kernelpro::html {

// A node on the way to the best, as it was judged.
struct PathStep {
  Node node;
  Certificate certificate;
};

struct NamedPlot {
  std::string name;  // of the shape, or empty
  std::string note;  // what the marks stand for
  RooflinePlot plot;
};

// One for each timed shape at which the task declares operations and bytes, with the ceilings of
// the last step. Operations and bytes are the declared ones, so that a step is faster exactly where
// it is higher.
[[nodiscard]] std::vector<NamedPlot> rooflines_of(const std::vector<PathStep>& path);

// With a mark for each kernel. Bytes are counted where there were counters; operations are those
// that the task declares, or what the use of the units comes to.
[[nodiscard]] NamedPlot roofline_of(const Profile& profile);

}  // namespace kernelpro::html
