"""Measurements of speed: ``python -m benchmarks`` makes them all and writes results/speed.json."""
