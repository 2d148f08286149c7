"""Any tabular file becomes Parquet once; tables are described and queried in confined children, results are kept.

tables   what the rooms above call        convert  file -> Parquet, once        names   SQL names
child    what runs in the confined child  charts   Vega-Lite specs checked
"""
