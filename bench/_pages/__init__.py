"""Pages whose tables are known cell by cell, drawn with ReportLab from a seed; and pages that only
look as if they had any."""
