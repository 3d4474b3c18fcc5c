// libkernelpro_sample.so: loaded into a program by LD_PRELOAD, it samples that program and all
// that it starts.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/sample_file.hpp"
#include "sample/sampler.hpp"

namespace {

using kernelpro::sample::start;

void start_here() {
  if (const char* folder = std::getenv(kernelpro::sample::folder_variable); folder != nullptr) {
    (void)start(folder);
  }
}

__attribute__((constructor)) void on_load() {
  start_here();
  // A fork has no timer: it starts its own.
  pthread_atfork(nullptr, nullptr, start_here);
}

__attribute__((destructor)) void on_exit() {
  kernelpro::sample::stop();
}

// Timers outlive exec and handlers do not: the new program would be killed by the first tick.
template <typename Function, typename... Arguments>
int stopped_call(const char* name, Arguments... arguments) {
  kernelpro::sample::stop();
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  const int code = real(arguments...);
  start_here();
  return code;
}

using Words = char* const*;

}  // namespace

// By the names of the C library, whose place they take.
#pragma GCC visibility push(default)
extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's have
// underscores
int execve(const char* path, Words words, Words environment) {
  return stopped_call<int (*)(const char*, Words, Words)>("execve", path, words, environment);
}

int execv(const char* path, Words words) {
  return stopped_call<int (*)(const char*, Words)>("execv", path, words);
}

int execvp(const char* file, Words words) {
  return stopped_call<int (*)(const char*, Words)>("execvp", file, words);
}

int execvpe(const char* file, Words words, Words environment) {
  return stopped_call<int (*)(const char*, Words, Words)>("execvpe", file, words, environment);
}

int fexecve(int file, Words words, Words environment) {
  return stopped_call<int (*)(int, Words, Words)>("fexecve", file, words, environment);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
#pragma GCC visibility pop
