"""Problems with a known model: finite MDPs, their exact values and optima, and the domains of the
paper.
"""
