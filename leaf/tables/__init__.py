"""Any tabular file becomes Parquet once; tables are described and queried in confined children,
results are kept.

tables   what the packages above call        convert  file -> Parquet, once        names   SQL names
notebooks  Python cells over the tables       views  names and rows of a table      lineage  what a cell rests on
child    what runs in the confined child  charts   Vega-Lite specs checked
"""
