"""The parts of examples/benchmark.py: levels, a child process for each, machine, report, chart."""
