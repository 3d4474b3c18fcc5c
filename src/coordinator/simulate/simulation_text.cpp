// What a simulation found, as text, JSON and a picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/html/svg.hpp"
#include "coordinator/simulate/simulate.hpp"

namespace kernelpro {

namespace {

constexpr double significant = 0.05;

std::string joined(const std::vector<double>& values, const char* form) {
  std::string text;
  for (const double value : values) {
    text += fmt::format(fmt::runtime(form), value);
  }
  return text;
}

std::string head(const SimulateSettings& settings) {
  std::string text = fmt::format("{:<24}", "");
  for (const int budget : settings.budgets) {
    text += fmt::format("{:>8}", budget);
  }
  return text + "    to 90 %    95 %    99 %\n";
}

std::string overall_rows(const std::vector<Overall>& all) {
  std::string text;
  for (const Overall& one : all) {
    text += fmt::format("{:<24}{}  {}\n", one.search, joined(one.shares, "{:>8.3f}"),
                        joined(one.needed, "{:>8.1f}"));
  }
  return text;
}

// "+" and "-": better and worse than the first, beyond chance; "." neither.
std::string marks(const Fared& one, const Fared& first) {
  std::string text;
  for (std::size_t i = 0; i < one.shares.size(); ++i) {
    const bool sure = one.p_values[i] < significant;
    const char mark = one.shares[i] > first.shares[i] ? '+' : '-';
    text += sure ? mark : '.';
  }
  return text;
}

std::string landscape_rows(const FaredOn& on) {
  std::string text = "\n" + on.landscape;
  text += on.programs == 0
              ? ": a tree of its own for each seed\n"
              : fmt::format(": {} programs, uniform draws reach 95 % after {:.0f}{}\n", on.programs,
                            on.uniform_draws_to_95, on.counted ? "" : "; not counted");
  for (const Fared& one : on.searches) {
    text += fmt::format("  {:<22}{}  {}  {}\n", one.search, joined(one.shares, "{:>8.3f}"),
                        joined(one.needed, "{:>8.1f}"), marks(one, on.searches.front()));
  }
  return text;
}

std::size_t counted_landscapes(const Simulation& simulation) {
  return static_cast<std::size_t>(
      std::ranges::count_if(simulation.landscapes, [](const FaredOn& on) { return on.counted; }));
}

nlohmann::json overall_json(const std::vector<Overall>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const Overall& one : all) {
    list.push_back({{"search", one.search}, {"shares", one.shares}, {"needed", one.needed}});
  }
  return list;
}

nlohmann::json landscape_json(const FaredOn& on) {
  nlohmann::json searches = nlohmann::json::array();
  for (const Fared& one : on.searches) {
    searches.push_back({{"search", one.search},
                        {"shares", one.shares},
                        {"needed", one.needed},
                        {"p_values", one.p_values},
                        {"curve", one.curve}});
  }
  return {{"landscape", on.landscape},
          {"programs", on.programs},
          {"uniform_draws_to_95", on.uniform_draws_to_95},
          {"counted", on.counted},
          {"searches", std::move(searches)}};
}

// The geometric mean of a search's curves; over all landscapes where none is counted.
std::vector<double> mean_curve(const Simulation& simulation, std::size_t search) {
  const bool any = counted_landscapes(simulation) > 0;
  std::vector<double> sums(static_cast<std::size_t>(simulation.settings.budgets.back()), 0);
  double count = 0;
  for (const FaredOn& on : simulation.landscapes) {
    if (any && !on.counted) {
      continue;
    }
    ++count;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      constexpr double least = 1e-3;
      sums[i] += std::log(std::max(on.searches[search].curve[i], least));
    }
  }
  for (double& sum : sums) {
    sum = std::exp(sum / count);
  }
  return sums;
}

// A picture of a page has its colors from there; this one stands alone.
constexpr char svg_style[] =
    "<style>text{font:12px sans-serif;fill:#444}line,polyline{fill:none;stroke:#ccc}"
    ".s0{stroke:#0b62a4;stroke-width:2}.s1{stroke:#c8500a;stroke-width:2}"
    ".s2{stroke:#2a7f3b;stroke-width:2}.s3{stroke:#8a3fa0;stroke-width:2}"
    ".s4{stroke:#a08000;stroke-width:2}.s5{stroke:#444;stroke-width:2}</style>";
constexpr std::size_t colors = 6;

}  // namespace

std::string simulation_text(const Simulation& simulation) {
  const SimulateSettings& settings = simulation.settings;
  std::string text = fmt::format(
      "share of the optimum's speed after so many evaluations, and evaluations to 90, 95 and 99 % "
      "of it\n(unreached counts {}); {} seeds, geometric means over landscapes\n\n",
      2 * settings.budgets.back(), settings.seeds);
  text += head(settings);
  const std::size_t counted = counted_landscapes(simulation);
  if (counted > 0) {
    text += fmt::format("{} counted\n", counted) + overall_rows(simulation.counted);
  }
  if (counted < simulation.landscapes.size()) {
    text += fmt::format("all {}\n", simulation.landscapes.size()) + overall_rows(simulation.all);
  }
  for (const FaredOn& on : simulation.landscapes) {
    text += landscape_rows(on);
  }
  if (settings.searches.size() > 1) {
    text += fmt::format(
        "\n+ better, - worse than {} after each budget (permutation of the seeds, Holm-corrected, "
        "p < {})\n",
        settings.searches.front(), significant);
  }
  return text +
         fmt::format("{} evaluations in {:.1f} s\n", simulation.evaluations, simulation.seconds);
}

nlohmann::json to_json(const Simulation& simulation) {
  nlohmann::json landscapes = nlohmann::json::array();
  for (const FaredOn& on : simulation.landscapes) {
    landscapes.push_back(landscape_json(on));
  }
  const SimulateSettings& settings = simulation.settings;
  return {{"searches", settings.searches},         {"seeds", settings.seeds},
          {"first_seed", settings.first_seed},     {"budgets", settings.budgets},
          {"in_flight", settings.in_flight},       {"counted", overall_json(simulation.counted)},
          {"all", overall_json(simulation.all)},   {"landscapes", std::move(landscapes)},
          {"evaluations", simulation.evaluations}, {"seconds", simulation.seconds}};
}

std::string simulation_svg(const Simulation& simulation) {
  using namespace html;
  constexpr Frame frame = {.left = 56, .top = 20, .right = 560, .bottom = 320};
  const std::vector<std::string>& names = simulation.settings.searches;
  const double last = simulation.settings.budgets.back();
  const Scale x(Scale::Kind::logarithmic, 1, std::max(last, 2.0), frame.left, frame.right);
  const Scale y(Scale::Kind::linear, 0, 1, frame.bottom, frame.top);
  Markup inner = axes(frame, x, y, "evaluations", "share of the optimum's speed");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string kind = fmt::format("s{}", i % colors);
    std::vector<Point> points;
    for (const double share : mean_curve(simulation, i)) {
      points.push_back({x.at(static_cast<double>(points.size() + 1)), y.at(share)});
    }
    const double row = frame.top + 20 + 18 * static_cast<double>(i);
    inner += polyline(points, kind);
    inner += line({frame.right + 12, row - 4}, {frame.right + 32, row - 4}, kind);
    inner += label({frame.right + 38, row}, "start", "name", names[i]);
  }
  return element("svg", {{"xmlns", "http://www.w3.org/2000/svg"}, {"viewBox", "0 0 720 360"}},
                 Markup::literal(svg_style) + inner)
             .str() +
         "\n";
}

}  // namespace kernelpro
