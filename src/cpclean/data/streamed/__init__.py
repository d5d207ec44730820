"""Tables of files that may be larger than memory: the same as a table, learnt in a few passes.

    addresses, opening_files            which files a person means
    pieces                              files as one table, in pieces; what files are known by
    parquet_source, csv_source          the two formats
    text_parts                          text files in parts, and how they are written
    folder_columns                      folders such as year=2024 as columns
    row_batches                         rows of files as columns, some at a time
    table_files                         where a row is, and whether files have changed
    first_look, rank_search, looks      what is learnt of the columns
    class_counts                        what priors are made of
    row_recipe                          what was learnt, applied to some rows
    learning_rows                       trees, learnt from a sample
    refused                             what would need all rows at once
    streamed_table                      StreamedTable

`cpclean.queries.near_scan` finds the rows that matter to points.
"""
