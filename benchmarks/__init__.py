"""Measurements of speed: ``python -m benchmarks`` makes results/speed.json, ``benchmarks.playground`` the page's."""
