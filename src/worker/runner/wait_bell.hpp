// Ends blocking system calls of a thread from time to time, so that it can look at its deadline.
#pragma once

namespace kernelpro {

// While it lives, calls of this thread that block return with EINTR every 20 ms. For waits that
// have no timeout of their own and must not be polled, because what they end is a measurement
// (waitid). Where the system has no timer left it does nothing, and rings() is false.
class WaitBell {
 public:
  WaitBell();
  ~WaitBell();
  WaitBell(const WaitBell&) = delete;
  WaitBell& operator=(const WaitBell&) = delete;

  [[nodiscard]] bool rings() const { return rings_; }

 private:
  bool rings_ = false;
};

}  // namespace kernelpro
