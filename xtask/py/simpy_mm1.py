"""M/M/1 at load 0.8 in SimPy: events (arrivals and departures) a second, as JSON. Argument: seconds to measure."""

import json
import random
import sys
import time

import simpy

CUSTOMERS = 50_000
PASSES = 3


def customer(env, server, draw):
    with server.request() as turn:
        yield turn
        yield env.timeout(draw.expovariate(1.0))


def arrivals(env, server, draw):
    for _ in range(CUSTOMERS):
        yield env.timeout(draw.expovariate(0.8))
        env.process(customer(env, server, draw))


def once():
    env, draw = simpy.Environment(), random.Random(1)
    env.process(arrivals(env, simpy.Resource(env, capacity=1), draw))
    start = time.perf_counter()
    env.run()
    return 2 * CUSTOMERS / (time.perf_counter() - start)


rates, start = [], time.perf_counter()
while len(rates) < PASSES or time.perf_counter() - start < float(sys.argv[1]):
    rates.append(once())
rates.sort()
print(
    json.dumps(
        {
            "version": simpy.__version__,
            "best_events_per_s": rates[-1],
            "median_events_per_s": rates[len(rates) // 2],
        }
    )
)
