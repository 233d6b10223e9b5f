"""`python -m jekyllhyde` is `jh`."""

from jekyllhyde.cli import main

raise SystemExit(main())
