"""The methods by name: exact updates, learning from samples, learning with networks."""

from __future__ import annotations

from jekyllhyde.lab.methods.contract import Method
from jekyllhyde.lab.methods.deep import Deep
from jekyllhyde.lab.methods.learn import Learn
from jekyllhyde.lab.methods.plan import Plan
from jekyllhyde.registry import Registry

METHODS: Registry[Method] = Registry("method")
for _method in (Plan(), Learn(), Deep()):
    METHODS.add(_method.name, _method)
