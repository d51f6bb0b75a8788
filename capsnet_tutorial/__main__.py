"""The command ``capsnet`` as a module, which is what ``torchrun -m`` starts."""

import sys

from capsnet_tutorial.cli import main

if __name__ == "__main__":
    sys.exit(main())
