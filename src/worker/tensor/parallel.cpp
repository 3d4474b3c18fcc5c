#include "worker/tensor/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace kernelpro {

namespace {

// A part that splits its own work would only start threads for cores that are taken.
thread_local bool within_part = false;

void run_part(const std::function<void(std::size_t, std::size_t)>& work, std::size_t begin,
              std::size_t end) {
  within_part = true;
  work(begin, end);
  within_part = false;
}

}  // namespace

void parallel_parts(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& work) {
  if (within_part) {
    work(0, count);
    return;
  }
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts =
      std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, cores);
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&work, count, part, parts] {
      run_part(work, count * part / parts, count * (part + 1) / parts);
    });
  }
  run_part(work, 0, count / parts);
}

}  // namespace kernelpro
