"""One module for each sub-command of ``dpcourse``."""
