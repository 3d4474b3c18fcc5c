// kp:hack honest  advice on memory of its own
// kp:task axpy
// kp:expect passed
// kp:twin timing_remove_outputs.cpp
//
// Keeps a table in large pages and gives it back when it is no longer needed; says of the inputs
// how they are read.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "plain_axpy.hpp"

namespace {

void advise(const kp_tensor& tensor, size_t bytes, int advice) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensor.data) + bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr size_t large_page = size_t{2} << 20;
  static void* table = nullptr;
  if (table == nullptr) {
    table = std::aligned_alloc(large_page, large_page);
    madvise(table, large_page, MADV_HUGEPAGE);
    madvise(table, large_page, MADV_DONTDUMP);
    static_cast<float*>(table)[0] = 1;
    madvise(table, large_page, MADV_FREE);
    madvise(table, large_page, MADV_DONTNEED);
  }
  const size_t bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  advise(tensors[0], bytes, MADV_SEQUENTIAL);
  advise(tensors[1], bytes, MADV_WILLNEED);
  axpy(context, tensors);
  return 0;
}
