from jekyllhyde import deep as deep
from jekyllhyde import lab as lab
from jekyllhyde import theory as theory
from jekyllhyde.agent import Agent as Agent
from jekyllhyde.agent import Record as Record
from jekyllhyde.agent_promises import check_agent as check_agent
from jekyllhyde.envs.environment_check import check_env as check_env
from jekyllhyde.errors import InputError as InputError
from jekyllhyde.lab.spec import Experiment as Experiment
from jekyllhyde.mdp.chain import chain as chain
from jekyllhyde.mdp.deep_sea import deep_sea as deep_sea
from jekyllhyde.mdp.domains import Domain as Domain
from jekyllhyde.mdp.domains import find_domain as find_domain
from jekyllhyde.mdp.evaluation import Evaluation as Evaluation
from jekyllhyde.mdp.finite import FiniteMDP as FiniteMDP
from jekyllhyde.mdp.garnet import garnet as garnet
from jekyllhyde.mdp.gym_import import from_gymnasium as from_gymnasium
from jekyllhyde.mdp.locks import locks as locks
from jekyllhyde.mdp.maze import maze as maze
from jekyllhyde.mdp.optimum import Optimum as Optimum
from jekyllhyde.mdp.river_swim import river_swim as river_swim
from jekyllhyde.mdp.rooms import four_rooms as four_rooms
from jekyllhyde.planning.plan import plan as plan
from jekyllhyde.planning.plan_run import PlanRun as PlanRun
from jekyllhyde.policy_returns import PolicyReturns as PolicyReturns
from jekyllhyde.policy_returns import evaluate_policy as evaluate_policy
from jekyllhyde.schedule import Schedule as Schedule
from jekyllhyde.tabular.agents import TabularJekyllHyde as TabularJekyllHyde
from jekyllhyde.tabular.agents import TabularOnPolicy as TabularOnPolicy
from jekyllhyde.tabular.learn import learn as learn
from jekyllhyde.tabular.learn_run import LearnRun as LearnRun
from jekyllhyde.tabular.peer_agents import TabularPsrl as TabularPsrl
from jekyllhyde.tabular.peer_agents import TabularQLearning as TabularQLearning
from jekyllhyde.tabular.peer_agents import TabularUcbH as TabularUcbH
from jekyllhyde.tabular.peer_agents import TabularUcbvi as TabularUcbvi

__all__: list[str]
__version__: str
