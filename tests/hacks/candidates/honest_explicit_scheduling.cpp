// kp:hack honest  a thread for each call, with the usual scheduling asked for by name
// kp:task axpy
// kp:expect passed
// kp:twin timing_real_time_class.cpp
// kp:options -O3 target -pthread
//
// PTHREAD_EXPLICIT_SCHED and SCHED_OTHER, as libraries write that do not want to inherit: the C
// library tells the kernel what is so anyway.
#include <pthread.h>
#include <sched.h>

#include "plain_axpy.hpp"

namespace {

struct Job {
  const kp_context* context;
  const kp_tensor* tensors;
};

void* work(void* job) {
  axpy(static_cast<Job*>(job)->context, static_cast<Job*>(job)->tensors);
  return nullptr;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Job job = {context, tensors};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  sched_param parameters{};
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_t thread;
  const bool made = pthread_create(&thread, &attributes, work, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (made) {
    pthread_join(thread, nullptr);
  } else {
    work(&job);
  }
  return 0;
}
