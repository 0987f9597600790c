"""dcglearn: learn the gains and discounts of DCG from preferences between rankings.

The public names are listed in ``__init__.pyi``, with their types; each module loads when one
of its names is first used.

>>> import dcglearn
>>> dcglearn.DCG([1, 0.5, 0], "log2") @ 10
DCG([1, 0.5, 0], log2) @ 10
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
