"""The methods by name: exact updates, learning from samples, learning with networks."""

from jekyllhyde.lab.methods.contract import Method
from jekyllhyde.lab.methods.deep import DEEP
from jekyllhyde.lab.methods.learn import LEARN
from jekyllhyde.lab.methods.plan import PLAN
from jekyllhyde.registry import Registry

METHODS: Registry[Method] = Registry("method")
for _method in (PLAN, LEARN, DEEP):
    METHODS.add(_method.name, _method)
