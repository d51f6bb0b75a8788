"""What the claims about speed rest on: ``python -m benchmarks`` measures it all and writes results/speed.json."""
