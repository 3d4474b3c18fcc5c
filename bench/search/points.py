#!/usr/bin/env python3
"""Point by point, who wins: of the output of `kernelpro simulate ... --json`, as text.

    kernelpro simulate agents/proof --seeds 200 --searches horizon,mcts,mcts:paper,greedy --json |
        bench/search/points.py > bench/results/FILE.txt

The first search is held against the others: `-` behind a figure says that the first is significantly
better there, `+` that it is significantly worse (p < 0.05, as corrected by the simulation). `lost`
names who is above it after the first two budgets, whether significantly or not.
"""

import json
import sys


def mark(first, other, p_value):
    if p_value >= 0.05:
        return " "
    return "+" if other > first else "-"


def cells(first, one):
    shares = zip(first["shares"], one["shares"], one["p_values"])
    text = " ".join(f"{other:.3f}{mark(best, other, p)}" for best, other, p in shares)
    return f"{text} {one['needed'][1]:6.1f}"


def lost(searches, budgets):
    first, *others = searches
    return [
        f"{one['search']} after {budgets[i]}"
        for one in others
        for i in (0, 1)
        if one["shares"][i] >= first["shares"][i]
    ]


def main():
    simulation = json.load(sys.stdin)
    budgets = simulation["budgets"]
    print(f"share of the optimum's speed after {budgets}, evaluations to 95 %; "
          f"{simulation['seeds']} seeds from {simulation['first_seed']}")
    losses = 0
    for on in simulation["landscapes"]:
        searches = on["searches"]
        beaten = lost(searches, budgets)
        losses += bool(beaten)
        print(f"\n{on['landscape']}" + (f"   lost: {', '.join(beaten)}" if beaten else ""))
        for one in searches:
            print(f"  {one['search']:<12} {cells(searches[0], one)}")
    points = len(simulation["landscapes"])
    print(f"\nabove all others after {budgets[0]} and {budgets[1]}: {points - losses} of {points}")
    for i, one in enumerate(simulation["searches"][1:], start=1):
        pairs = [(on["searches"][0], on["searches"][i]) for on in simulation["landscapes"]]
        above = [sum(a["shares"][j] > b["shares"][j] for a, b in pairs) for j in range(len(budgets))]
        fewer = sum(a["needed"][1] <= 0.7 * b["needed"][1] for a, b in pairs)
        print(f"  {one:<12} above it at {above}, evaluations to 95 % at most 0.7 of its at {fewer}")
    for overall in simulation["all"]:
        shares = " ".join(f"{share:.3f}" for share in overall["shares"])
        print(f"  {overall['search']:<12} {shares} {overall['needed'][1]:6.1f}   geometric means")


if __name__ == "__main__":
    main()
