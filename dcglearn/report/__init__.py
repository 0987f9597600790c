"""What commands say and draw: words, tables, figures and pages; a module loads when it is used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
