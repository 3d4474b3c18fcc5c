// A program with the library in it, as CUDA's driver would load it: traced_program LIBRARY STEP...
// A step is one of ours, or else one of the fake CUPTI's.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

bool do_step(std::string_view step, bool (*fake)(const char*)) {
  if (step == "kill") {
    raise(SIGKILL);
  }
  if (step == "leave") {
    _exit(0);
  }
  if (step == "fork") {
    if (const pid_t child = fork(); child == 0) {
      std::exit(0);
    } else {
      int status = 0;
      return waitpid(child, &status, 0) == child && status == 0;
    }
  }
  return fake != nullptr && fake(step.data());
}

}  // namespace

int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fputs(dlerror(), stderr);
    return 2;
  }
  auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() != 1) {
    return 3;
  }
  const char* cupti = std::getenv("KERNELPRO_CUPTI");
  void* fake = cupti != nullptr ? dlopen(cupti, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  auto function =
      reinterpret_cast<bool (*)(const char*)>(fake != nullptr ? dlsym(fake, "fake_do") : nullptr);
  for (int i = 2; i < count; ++i) {
    if (!do_step(words[i], function)) {
      std::fprintf(stderr, "step %s failed\n", words[i]);
      return 4;
    }
  }
  std::puts("the program's own result");
  return 7;
}
