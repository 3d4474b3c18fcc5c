#include "coordinator/simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <utility>

#include "coordinator/simulate/play.hpp"
#include "coordinator/simulate/significance.hpp"

namespace kernelpro {

namespace {

// Where uniform draws are as quick as that, every search is good.
constexpr double easy_draws = 20;
constexpr std::uint64_t relabeling_seed = 24;

using Curves = std::vector<std::vector<double>>;  // one a seed, all of the same length

Status check_settings(const SimulateSettings& settings,
                      const std::vector<AnyLandscape>& landscapes) {
  if (landscapes.empty() || settings.searches.empty() || settings.budgets.empty()) {
    return make_error(ErrorKind::bad_input,
                      "nothing to simulate: expected landscapes, searches and budgets");
  }
  for (const std::string& name : settings.searches) {
    for (const AnyLandscape& landscape : landscapes) {
      KP_TRY(check_player(name, landscape));
    }
  }
  const std::vector<int>& budgets = settings.budgets;
  const bool ascend =
      std::adjacent_find(budgets.begin(), budgets.end(), std::greater_equal<>()) == budgets.end();
  if (!ascend || budgets.front() < 1) {
    return make_error(ErrorKind::bad_input, "expected numbers from 1 on, each above the one before",
                      "--budgets");
  }
  return {};
}

using PlayOne = std::function<std::vector<double>(const PlaySettings&)>;

// Of all seeds.
struct Played {
  Curves curves;                            // with the last budget
  std::vector<std::vector<double>> shares;  // by budget: at the end of a run that had this budget
};

// Who has nothing left to try stays where it is.
std::vector<double> padded(std::vector<double> curve, int evaluations) {
  const double last = curve.empty() ? 0 : curve.back();
  curve.resize(static_cast<std::size_t>(evaluations), last);
  return curve;
}

Result<Played> play_all(const SimulateSettings& settings, const std::string& search,
                        const PlayOne& play_one, Simulation& counts, const std::stop_token& stop) {
  Played played;
  played.shares.resize(settings.budgets.size());
  const std::clock_t start = std::clock();
  for (int i = 0; i < settings.seeds; ++i) {
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted, "interrupted");
    }
    for (std::size_t budget = 0; budget < settings.budgets.size(); ++budget) {
      PlaySettings one;
      one.player = search;
      one.seed = settings.first_seed + static_cast<std::uint64_t>(i);
      one.evaluations = settings.budgets[budget];
      one.in_flight = settings.in_flight;
      std::vector<double> curve = play_one(one);
      counts.evaluations += curve.size();
      curve = padded(std::move(curve), one.evaluations);
      played.shares[budget].push_back(curve.back());
      if (budget + 1 == settings.budgets.size()) {
        played.curves.push_back(std::move(curve));
      }
    }
  }
  counts.seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return played;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

// Of each seed, the share after so many evaluations.
std::vector<double> shares_after(const Curves& curves, std::size_t evaluations) {
  std::vector<double> shares;
  for (const std::vector<double>& curve : curves) {
    shares.push_back(curve[evaluations - 1]);
  }
  return shares;
}

double mean_needed(const Curves& curves, double level) {
  std::vector<double> needed;
  for (const std::vector<double>& curve : curves) {
    const auto reached =
        std::find_if(curve.begin(), curve.end(), [level](double share) { return share >= level; });
    const auto count = reached == curve.end() ? 2 * std::ssize(curve) : reached - curve.begin() + 1;
    needed.push_back(static_cast<double>(count));
  }
  return mean(needed);
}

Fared fared(const std::string& search, const Played& played, const Played& first) {
  Fared fared;
  fared.search = search;
  for (std::size_t count = 1; count <= played.curves.front().size(); ++count) {
    fared.curve.push_back(mean(shares_after(played.curves, count)));
  }
  for (std::size_t budget = 0; budget < played.shares.size(); ++budget) {
    fared.shares.push_back(mean(played.shares[budget]));
    fared.p_values.push_back(
        &played == &first
            ? 1
            : permutation_p(played.shares[budget], first.shares[budget], relabeling_seed));
  }
  for (const double level : levels_needed) {
    fared.needed.push_back(mean_needed(played.curves, level));
  }
  return fared;
}

Status fare(const SimulateSettings& settings, const PlayOne& play_one, FaredOn& on,
            Simulation& counts, const std::stop_token& stop) {
  std::vector<Played> all;
  for (const std::string& search : settings.searches) {
    KP_LET(Played played, play_all(settings, search, play_one, counts, stop));
    all.push_back(std::move(played));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    on.searches.push_back(fared(settings.searches[i], all[i], all.front()));
  }
  return {};
}

Result<FaredOn> fare_on(const SimulateSettings& settings, const Landscape& landscape,
                        Simulation& counts, const std::stop_token& stop) {
  const Scores scores(landscape);
  FaredOn on{landscape.name,
             landscape.programs.size(),
             scores.draws_to_95(),
             scores.draws_to_95() > easy_draws,
             {}};
  const auto play_one = [&](const PlaySettings& one) { return play(one, landscape, scores); };
  KP_TRY(fare(settings, play_one, on, counts, stop));
  return on;
}

Result<FaredOn> fare_on(const SimulateSettings& settings, const AgentLandscape& landscape,
                        Simulation& counts, const std::stop_token& stop) {
  FaredOn on{landscape.name, 0, 0, true, {}};
  const auto play_one = [&](const PlaySettings& one) { return play(one, landscape); };
  KP_TRY(fare(settings, play_one, on, counts, stop));
  return on;
}

// The p-values of all searches but the first, in their order.
std::vector<double*> compared(std::vector<FaredOn>& landscapes) {
  std::vector<double*> all;
  for (FaredOn& landscape : landscapes) {
    for (std::size_t i = 1; i < landscape.searches.size(); ++i) {
      for (double& p : landscape.searches[i].p_values) {
        all.push_back(&p);
      }
    }
  }
  return all;
}

void correct(std::vector<FaredOn>& landscapes) {
  const std::vector<double*> places = compared(landscapes);
  std::vector<double> raw;
  raw.reserve(places.size());
  for (const double* p : places) {
    raw.push_back(*p);
  }
  const std::vector<double> corrected = holm(raw);
  for (std::size_t i = 0; i < places.size(); ++i) {
    *places[i] = corrected[i];
  }
}

double geometric_mean(const std::vector<double>& values) {
  constexpr double least = 1e-9;
  double sum = 0;
  for (const double value : values) {
    sum += std::log(std::max(value, least));
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

// Entry by entry over landscapes.
std::vector<double> geometric_means(const std::vector<const Fared*>& all,
                                    std::vector<double> Fared::* field) {
  std::vector<double> means;
  for (std::size_t i = 0; i < (all.front()->*field).size(); ++i) {
    std::vector<double> values;
    values.reserve(all.size());
    for (const Fared* one : all) {
      values.push_back((one->*field)[i]);
    }
    means.push_back(geometric_mean(values));
  }
  return means;
}

std::vector<Overall> overall(const Simulation& simulation, bool counted_alone) {
  std::vector<Overall> out;
  for (std::size_t i = 0; i < simulation.settings.searches.size(); ++i) {
    std::vector<const Fared*> all;
    for (const FaredOn& landscape : simulation.landscapes) {
      if (landscape.counted || !counted_alone) {
        all.push_back(&landscape.searches[i]);
      }
    }
    if (!all.empty()) {
      out.push_back({simulation.settings.searches[i], geometric_means(all, &Fared::shares),
                     geometric_means(all, &Fared::needed)});
    }
  }
  return out;
}

}  // namespace

Result<Simulation> simulate(const SimulateSettings& settings,
                            const std::vector<AnyLandscape>& landscapes, std::stop_token stop) {
  KP_TRY(check_settings(settings, landscapes));
  Simulation out;
  out.settings = settings;
  for (const AnyLandscape& landscape : landscapes) {
    KP_LET(
        FaredOn on,
        std::visit([&](const auto& one) { return fare_on(settings, one, out, stop); }, landscape));
    out.landscapes.push_back(std::move(on));
  }
  correct(out.landscapes);
  out.counted = overall(out, true);
  out.all = overall(out, false);
  return out;
}

}  // namespace kernelpro
