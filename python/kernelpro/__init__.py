"""Client of `kernelpro serve`: candidates judged, with rewards for training loops.

Needs Python 3.9 and nothing else. See docs/serve.md.
"""

from .client import Client, Failure, Reward, Result, ServiceError, Unavailable, Verdict
from .environment import Environment, Step

__all__ = ["Client", "Environment", "Failure", "Result", "Reward", "ServiceError", "Step", "Unavailable", "Verdict"]
