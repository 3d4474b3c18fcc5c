// defects_cpu --list | --time CASE | --repeats CASE | --run CASE REPEATS
#include <omp.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "defects_cpu.hpp"

namespace defects {

namespace {

std::vector<Case>& cases() {
  static std::vector<Case> list;
  return list;
}

template <typename Value>
Value* filled(std::size_t count, int which) {
  static std::unique_ptr<Value[]> buffers[4];
  std::unique_ptr<Value[]>& one = buffers[which];
  if (!one) {
    one = std::make_unique<Value[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      one[i] = static_cast<Value>(1 + (i * 7 + static_cast<std::size_t>(which)) % 13) / 16 + 1;
    }
  }
  return one.get();
}

double cpu_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

volatile double sink = 0;

// Processor time of all threads: what sampling sees.
double seconds_of(const Case& one, long repeats) {
  const double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < repeats; ++i) {
    sink = sink + one.work();
  }
  return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

// As many as take about a second.
long repeats_of(const Case& one) {
  constexpr double wanted = 1.0;
  one.work();
  long repeats = 1;
  double took = seconds_of(one, repeats);
  while (took < wanted / 10) {
    repeats *= 4;
    took = seconds_of(one, repeats);
  }
  return std::max(1L, static_cast<long>(static_cast<double>(repeats) * wanted / took));
}

void print(const Case& one) {
  std::printf("{\"name\":\"%s\",\"tool\":\"%s\",\"defective\":%s,\"twin\":\"%s\",\"also\":[",
              one.name.c_str(), one.name.substr(0, one.name.find('/')).c_str(),
              one.defective ? "true" : "false", one.twin.c_str());
  for (std::size_t i = 0; i < one.also.size(); ++i) {
    std::printf("%s\"%s\"", i == 0 ? "" : ",", one.also[i].c_str());
  }
  std::printf("]}\n");
}

}  // namespace

void add_pair(const std::string& tool, const std::string& shape, Work defective, Work twin,
              std::vector<std::string> also, std::vector<std::string> twin_also) {
  const std::string name = tool + "/" + shape;
  cases().push_back({name + "/clean", false, name + "/clean", std::move(twin_also), twin});
  cases().push_back({name + "/defect", true, name + "/clean", std::move(also), defective});
}

void add_clean(const std::string& tool, const std::string& shape, Work work,
               std::vector<std::string> also) {
  const std::string name = tool + "/" + shape + "/clean";
  cases().push_back({name, false, name, std::move(also), work});
}

float* floats(int which) {
  return filled<float>(large, which);
}

double* doubles(int which) {
  return filled<double>(large / 2, which);
}

unsigned char* bytes(int which) {
  return filled<unsigned char>(large, which);
}

int* order() {
  static std::vector<int> list;
  if (list.empty()) {
    list.resize(large);
    std::iota(list.begin(), list.end(), 0);
    std::shuffle(list.begin(), list.end(), std::mt19937(7));
  }
  return list.data();
}

int run(int argc, char** argv) {
  add_not_vectorized();
  add_dependent_chain();
  add_poor_locality();
  add_idle_threads();
  add_second_not_vectorized();
  add_second_dependent_chain();
  add_second_poor_locality();
  add_second_idle_threads();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    std::for_each(cases().begin(), cases().end(), print);
    return 0;
  }
  const auto found = std::find_if(cases().begin(), cases().end(),
                                  [&](const Case& one) { return argc > 2 && one.name == argv[2]; });
  if (found == cases().end()) {
    std::fprintf(stderr,
                 "defects_cpu --list | --time CASE | --repeats CASE | --run CASE REPEATS\n");
    return 2;
  }
  if (std::strcmp(argv[1], "--time") == 0) {
    const long repeats = repeats_of(*found);
    // Threads that wait sleep, so the wall clock would count others' work: the busiest thread is
    // the length of the whole.
    double most = 0;
    seconds_of(*found, repeats);
#pragma omp parallel reduction(max : most)
    most = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    const double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    const double all = seconds_of(*found, repeats);
    double later = 0;
#pragma omp parallel reduction(max : later)
    later = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    const bool threads = found->name.starts_with("idle_threads/");
    (void)begin;
    std::printf("{\"ns\":%.6g}\n",
                1e9 * (threads ? later - most : all) / static_cast<double>(repeats));
  } else if (std::strcmp(argv[1], "--repeats") == 0) {
    std::printf("{\"repeats\":%ld}\n", repeats_of(*found));
  } else {
    seconds_of(*found, argc > 3 ? std::atol(argv[3]) : 1);
  }
  return 0;
}

}  // namespace defects

int main(int argc, char** argv) {
  return defects::run(argc, argv);
}
