#include "coordinator/html/findings_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/html/page.hpp"
#include "coordinator/html/svg.hpp"
#include "coordinator/report/diagnosis_parts.hpp"

namespace kernelpro::html {

namespace {

Markup moves_view(const std::vector<std::string>& moves) {
  Markup items;
  for (const std::string& move : moves) {
    items += element("li", {}, move_text(move));
  }
  return items.empty() ? Markup() : element("ol", {}, items);
}

Markup labeled(const char* label, const std::string& text) {
  return element("p", {}, element("strong", {}, label) + Markup::text(" " + text));
}

Markup bar(double share) {
  const double used = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  return element("svg",
                 {{"class", "bar"},
                  {"viewBox", "0 0 100 10"},
                  {"preserveAspectRatio", "none"},
                  {"aria-hidden", "true"}},
                 element("rect",
                         {{"class", "fill"},
                          {"x", "0"},
                          {"y", "0"},
                          {"height", "10"},
                          {"width", place_text(100 * used)}},
                         Markup()));
}

}  // namespace

Markup finding_view(const Finding& finding, std::size_t number, const Markup& lines) {
  const std::string where = finding.kernel.empty() ? "the program as a whole" : finding.kernel;
  Markup content = heading(fmt::format("{}. {}", number, finding.title));
  content +=
      note(fmt::format("predicted gain {:.2f}, severity {}, found by {} in {}",
                       finding.predicted_gain, name_of(finding.severity), finding.tool, where));
  content += labeled("Seen:", observed_text(finding));
  content += labeled("Cause:", finding.cause);
  content += lines;
  if (!finding.moves.empty()) {
    content += element("p", {}, element("strong", {}, "What to do:")) + moves_view(finding.moves);
  }
  content += labeled("Gain:", finding.derivation);
  const std::string severity(name_of(finding.severity));
  return element("article", {{"class", "finding " + severity}}, content);
}

Markup roofs_view(const std::vector<RoofUse>& roofs) {
  Markup rows;
  for (const RoofUse& roof : roofs) {
    rows += element("span", {}, roof.roof) + bar(roof.share) +
            element("span", {}, percent_text(roof.share)) + classed("span", "text", roof.text);
  }
  return rows.empty() ? Markup() : element("div", {{"class", "bars"}}, rows);
}

}  // namespace kernelpro::html
