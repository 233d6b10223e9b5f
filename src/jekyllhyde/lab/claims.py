"""The words in which a figure's claims are written, in one place: estimates from a panel's curves
(`estimates`), parts and verdicts (`verdicts`), and the tests that are made of them (`claim_tests`).
"""

from jekyllhyde.lab.claim_tests import *  # noqa: F403
from jekyllhyde.lab.estimates import *  # noqa: F403
from jekyllhyde.lab.verdicts import *  # noqa: F403
