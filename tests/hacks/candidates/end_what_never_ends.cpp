// kp:hack bad-input  an exception that never finishes saying what it is
// kp:task axpy
// kp:expect timed_out|crashed
//
// The runner asks the exception for its text, outside of the call that threw it.
#include <kernelpro/candidate.h>

#include <exception>

namespace {

struct Endless : std::exception {
  [[nodiscard]] const char* what() const noexcept override {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  throw Endless();
}
