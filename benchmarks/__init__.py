"""Measurements of speed: ``python -m benchmarks`` writes results/speed.json.

``python -m benchmarks.playground`` measures the page's trainings.
"""
