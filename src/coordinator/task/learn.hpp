// What a task needs to know of a function beyond its signature, learned by calling it on trial.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"
#include "coordinator/task/asserted_sizes.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/own_call.hpp"

namespace kernelpro {

// Something that only the user knows.
struct Question {
  std::string flag;                   // "--shape"
  std::string about;                  // "how far it reaches into x"
  std::vector<std::string> proposal;  // what fits what was seen: "x=n"; empty: nothing does
};

// An axis that is no size but counts what a number is drawn from.
struct DrawnAxis {
  std::int64_t high = 1;  // from 1 on
  std::int64_t timed = 1;
};

struct Learned {
  NewTask request;                          // with every question settled that could be
  std::vector<std::string> only_read;       // tensors, const or not
  std::vector<std::string> notes;           // what was chosen, for people
  std::vector<Question> missing;            // without an answer there is no task
  bool grows = false;                       // its results at the timed sizes are not finite
  std::vector<Question> chosen;             // what else may be meant otherwise; the proposal holds
  std::map<std::string, AxisRange> bounds;  // of sizes, that the function itself states by assert
  std::vector<SizeOrder> at_least;          // the same, of two sizes
  std::map<std::string, DrawnAxis> drawn;
  // What the user wants checked, where the function had to be tried there: it may fail beyond.
  std::map<std::string, AxisRange> made_for;
  // Distances of rows that are only read, which may overlap, and what such a row holds: rows are
  // timed side by side.
  std::map<std::string, std::string> side_by_side;
};

// Calls the function at small sizes, watches what it touches, and settles what `request` leaves
// open: shapes, what is read and written, what whole numbers in tensors mean, sizes to measure and
// to check. What the user gave is kept. Errors say why the function cannot be judged: undefined
// behavior, no end, memory that it does not own.
[[nodiscard]] Result<Learned> learn_function(const OwnSource& source, const OwnFunction& function,
                                             const OwnCall& call, const NewTask& request,
                                             const std::function<void(const std::string&)>& tell,
                                             std::stop_token stop);

}  // namespace kernelpro
