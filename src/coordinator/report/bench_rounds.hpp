// The part of an exported bench.cpp that measures; the same for every task.
#pragma once

#include <string_view>

namespace kernelpro {

// Rounds, what is printed, and main.
inline constexpr std::string_view bench_rounds = R"bench(
// ---- what is compared ---------------------------------------------------------------------------

constexpr double allowed_difference = 1e-2;
// By so much may the times' own ratio differ from the speed-up of the pairs before it is remarked.
constexpr double disturbed = 0.03;

// max |x - r| / (|r| + rms(r)) over the elements where r is finite.
double difference(const char* x, const char* r, Type type, std::size_t elements) {
  double squares = 0;
  double finite = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double value = load(r, type, i);
    if (std::isfinite(value)) {
      squares += value * value;
      finite += 1;
    }
  }
  const double rms = finite > 0 ? std::sqrt(squares / finite) : 0.0;
  double worst = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double expected = load(r, type, i);
    const double found = load(x, type, i);
    if (!std::isfinite(expected) || found == expected) {
      continue;
    }
    const double error = std::fabs(found - expected) / (std::fabs(expected) + rms);
    worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
  }
  return worst;
}

// The largest difference between the outputs in `sets` and those in `saved`, over every call.
double largest_difference(const Sets& sets, const std::vector<char>& saved) {
  std::vector<double> worst(sets.count(), 0.0);
  in_parallel(sets.count(), [&](std::size_t set) {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (Sets::is_output(t) && !tensors[t].selects) {
        worst[set] = std::max(worst[set],
                              difference(sets.data(set, t), sets.saved_data(saved, set, t),
                                         tensors[t].type, sets.elements(t)));
      }
    }
  });
  return *std::max_element(worst.begin(), worst.end());
}

// ---- rounds -------------------------------------------------------------------------------------

// Two rounds on the same inputs: mean nanoseconds a call of each side.
struct Pair {
  double kernel_ns = 0;
  double rival_ns = 0;
};

class Comparison {
 public:
  Comparison(const Shape& shape, Library& kernel, Library& rival, int threads)
      : scalars_(draw_scalars()),
        sets_(shape, static_cast<std::size_t>(shape.calls)),
        kernel_(kernel, shape, sets_, scalars_, threads),
        rival_(rival, shape, sets_, scalars_, threads),
        evictor_(shape.flush ? 2 * cache_bytes : 0) {}

  // Even pairs begin with the kernel, odd ones with its rival, so that drift favors neither.
  Pair run(std::uint64_t index) {
    const std::uint64_t seed = random_bits(fixed_seed, index);
    const std::vector<std::size_t> order = shuffled(seed);
    Side& first = index % 2 == 0 ? kernel_ : rival_;
    Side& second = index % 2 == 0 ? rival_ : kernel_;
    sets_.draw(seed);
    const double first_ns = run_side(first, order, seed);
    saved_.assign(sets_.outputs(), sets_.outputs() + sets_.output_bytes());
    const double second_ns = run_side(second, order, seed);
    worst_difference_ = std::max(worst_difference_, largest_difference(sets_, saved_));
    return index % 2 == 0 ? Pair{first_ns, second_ns} : Pair{second_ns, first_ns};
  }

  double worst_difference() const { return worst_difference_; }

 private:
  double run_side(Side& side, const std::vector<std::size_t>& order, std::uint64_t seed) {
    sets_.poison();
    if (side.prepares()) {
      side.prepare();
      sets_.draw(seed);  // the same values again: what was just prepared leaves the caches
    }
    flush();
    // A round begins with a kernel's threads asleep, as it did when the certificate was made.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return side.time_round(order);
  }

  void flush() {
    constexpr std::size_t line = 64;
    in_parallel(evictor_.size() / line, [this](std::size_t i) { ++evictor_[i * line]; });
  }

  std::vector<std::size_t> shuffled(std::uint64_t seed) const {
    std::vector<std::size_t> order(sets_.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[random_bits(seed, i) % (i + 1)]);
    }
    return order;
  }

  std::vector<double> scalars_;
  Sets sets_;
  Side kernel_;
  Side rival_;
  std::vector<unsigned char> evictor_;
  std::vector<char> saved_;
  double worst_difference_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Measures one shape and prints it; false when the outputs are too different.
bool measure(const Shape& shape, Library& kernel, Library& rival, int rounds, int threads) {
  Comparison comparison(shape, kernel, rival, threads);
  comparison.run(0);  // to warm up
  std::vector<double> kernel_ns;
  std::vector<double> rival_ns;
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) {
    const Pair pair = comparison.run(static_cast<std::uint64_t>(i) + 2);
    kernel_ns.push_back(pair.kernel_ns);
    rival_ns.push_back(pair.rival_ns);
    ratios.push_back(pair.rival_ns / pair.kernel_ns);
  }
  const double speedup = median(ratios);
  const Certified& certified = shape.certified;
  std::printf("%s: %d rounds of %d calls%s\n", shape.name, rounds, shape.calls,
              shape.flush ? ", caches flushed before each" : "");
  std::printf("  measured     kernel %10.2f us   %s %10.2f us   speed-up %.3f (%+.1f %%)\n",
              median(kernel_ns) / 1e3, rival_name, median(rival_ns) / 1e3, speedup,
              100 * (speedup / certified.speedup - 1));
  const double by_times = median(rival_ns) / median(kernel_ns);
  if (std::fabs(by_times / speedup - 1) > disturbed) {
    std::printf(
        "               the times vary from round to round and do not give that speed-up (%.3f): "
        "it is the\n               median over pairs of rounds side by side. Measure on a quieter "
        "machine, or with more --rounds\n",
        by_times);
  }
  std::printf("  certificate  kernel %10.2f us   %s %10.2f us   speed-up %.3f [%.3f, %.3f]\n",
              certified.kernel_ns / 1e3, rival_name, certified.rival_ns / 1e3, certified.speedup,
              certified.low, certified.high);
  const bool agree = comparison.worst_difference() <= allowed_difference;
  std::printf("  outputs      differ by %.2g at most (%.2g is allowed)%s\n",
              comparison.worst_difference(), allowed_difference, agree ? "" : ": TOO MUCH");
  return agree;
}

struct Options {
  int rounds = 0;  // 0: as many as the certificate has
  int threads = certified_threads;
};

Options parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    const int value = i + 1 < count ? std::atoi(arguments[i + 1]) : 0;
    if ((name != "--rounds" && name != "--threads") || value < 1) {
      std::fprintf(stderr, "usage: %s [--rounds N] [--threads N]\n", arguments[0]);
      std::exit(2);
    }
    (name == "--rounds" ? options.rounds : options.threads) = value;
  }
  return options;
}

// Threads and their places as the certificate's had them: each on a processor of its own, unless
// the caller says otherwise. OpenMP reads it when a library that uses it is loaded.
void prepare_openmp(int threads) {
  const cpu_set_t processors = own_processors();
  std::string places;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &processors)) {
      places += (places.empty() ? "{" : ",{") + std::to_string(i) + "}";
    }
  }
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("OMP_PROC_BIND", "spread", 0);
  setenv("OMP_PLACES", places.c_str(), 0);
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse_options(count, arguments);
  prepare_openmp(options.threads);
  Library kernel = open_library("kernel");
  Library rival = open_library(rival_name);
  std::printf("%s, %d threads\n", title, options.threads);
  bool agree = true;
  for (const Shape& shape : shapes) {
    const int rounds = options.rounds > 0 ? options.rounds : shape.rounds;
    agree = measure(shape, kernel, rival, rounds, options.threads) && agree;
  }
  return agree ? 0 : 1;
}
)bench";

}  // namespace kernelpro
