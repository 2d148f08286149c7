"""Files changed at random but reproducibly (`seeds`, `mutate`, `inside`), given to an app as uploads
(`uploads`), and what a person gets to see of each (`judge`)."""
