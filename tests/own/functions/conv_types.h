#pragma once

typedef float real_t;

inline real_t madd(real_t a, real_t b, real_t c) { return a * b + c; }
