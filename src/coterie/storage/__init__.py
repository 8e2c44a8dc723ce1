"""The run folder, safely: replaced in one step, read with every check, no pickle.

`folder` replaces a whole folder so that a crash leaves the old one or the new one; `state` keeps nested
values and arrays as JSON and safetensors; `tables` writes Parquet, and CSV that no spreadsheet takes for
formulas.
"""
