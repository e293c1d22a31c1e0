"""`python -m hidviz`: the command line."""

import sys

from hidviz.cli import main

sys.exit(main())
