"""`python -m jekyllhyde` is `jh`."""

import sys

from jekyllhyde.cli import main

sys.exit(main())
