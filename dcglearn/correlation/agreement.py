"""Agreement under the name by which experiments with kept results import it.

The imports of an experiment's own functions are part of its identity: other ones mean other cells.
"""

from dcglearn.measures.agreement import score_differences as score_differences
from dcglearn.naming.agreement import agreement as agreement
