// The program that calls a user's function as its callers may. For caller_program.cpp only.
#pragma once

#include <string_view>

namespace kernelpro {

// In front of the user's file: what generated calls need beside the headers of the function's own
// types.
inline constexpr std::string_view caller_head = R"(
#include <cstddef>
)";

// The program itself. Its input is one call after another, all numbers of eight bytes: how many
// sizes and the sizes; how many scalars and the scalars; how many arrays, and for each its bytes,
// its place (-1: it ends at a page that nobody may touch; else that many bytes behind a multiple of
// 64), which array it is (-1: one of its own) and, of its own, its content. The answer is a line,
// "ok STATUS INTACT" or "signal N", and after ok the content of the arrays of their own.
// INTACT: nothing was written around them. Each call has a process of its own.
inline constexpr std::string_view caller_main = R"(
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" int kp_call(const long* sizes, const double* scalars, void* const* data);
struct KpArray { int64_t bytes; int64_t place; int64_t same; char* body; size_t room; char* data;
  unsigned char rim; };
static void kp_take(void* to, size_t bytes) {
  if (bytes > 0 && fread(to, 1, bytes, stdin) != bytes) _exit(3);
}
template <typename T> static T* kp_list(int64_t n) {
  T* list = (T*)calloc((size_t)n + 1, sizeof(T));
  if (list == nullptr) _exit(4);
  return list;
}
static int64_t kp_count() { int64_t n = 0; kp_take(&n, 8); return n; }
static void kp_map(KpArray& x) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t wanted = (size_t)x.bytes + 256;
  x.room = (wanted + page - 1) / page * page;
  char* all = (char*)mmap(nullptr, x.room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || mprotect(all + page, x.room, PROT_READ | PROT_WRITE) != 0) _exit(4);
  x.body = all + page;
  memset(x.body, x.rim, x.room);
  x.data = x.place < 0 ? x.body + x.room - x.bytes : x.body + 64 + x.place;
}
static bool kp_intact(const KpArray& x) {
  for (const char* at = x.body; at < x.body + x.room; ++at) {
    if (at == x.data) at += x.bytes;
    if (at < x.body + x.room && (unsigned char)*at != x.rim) return false;
  }
  return true;
}
int main() {
  for (;;) {
    int64_t count = 0;
    if (fread(&count, 1, 8, stdin) != 8) return 0;
    long* sizes = kp_list<long>(count);
    kp_take(sizes, (size_t)count * 8);
    count = kp_count();
    double* scalars = kp_list<double>(count);
    kp_take(scalars, (size_t)count * 8);
    count = kp_count();
    KpArray* arrays = kp_list<KpArray>(count);
    for (int64_t i = 0; i < count; ++i) {
      KpArray& x = arrays[i];
      // What is carried from rim to rim is seen.
      x.rim = (unsigned char)(0xa5 + i);
      kp_take(&x.bytes, 8); kp_take(&x.place, 8); kp_take(&x.same, 8);
      if (x.same < 0) { kp_map(x); kp_take(x.data, (size_t)x.bytes); }
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none = {0, 0};
      setrlimit(RLIMIT_CORE, &none);
      alarm(10);
      void** data = kp_list<void*>(count);
      for (int64_t i = 0; i < count; ++i)
        data[i] = arrays[i].same < 0 ? arrays[i].data : arrays[arrays[i].same].data;
      const int status = kp_call(sizes, scalars, data);
      bool intact = true;
      for (int64_t i = 0; i < count; ++i)
        intact = intact && (arrays[i].same >= 0 || kp_intact(arrays[i]));
      printf("ok %d %d\n", status, (int)intact);
      for (int64_t i = 0; i < count; ++i)
        if (arrays[i].same < 0) fwrite(arrays[i].data, 1, (size_t)arrays[i].bytes, stdout);
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0) printf("signal %d\n", SIGABRT);
    fflush(stdout);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int64_t i = 0; i < count; ++i)
      if (arrays[i].same < 0) munmap(arrays[i].body - page, arrays[i].room + 2 * page);
    free(sizes);
    free(scalars);
    free(arrays);
  }
}
)";

}  // namespace kernelpro
