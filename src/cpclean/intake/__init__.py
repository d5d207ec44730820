"""Intake: from a file and a person's choices to a task, and known cells back into the file.

    open_task                           the one way from a file to a task
    choices, source_file                what a person chose; a file and its bytes
    unpacking                           how large packed files are
    layout, reading, formats            how text files are written; files to frames, frames to files
    checking, holding, predicting       what is refused; rows held out; rows to predict
    same_rows                           rows that are in two files
    sampling                            how much of a large table is looked at
    tidying, odd_numbers                numbers among odd cells, doubted cells, spellings, ranges
    misspelt, null_words                slips of the pen among categories; words read as missing
    notes, remarks, doubts              what there is to say about a file
    saying, sentences, doubt_sentences  how it is said to each reader
    point_sentences                     the same about rows to predict
    typed_values, typed_repairs         values and candidates that a person types
    plausible                           typed values that are asked back
    text_columns, gathered_notes        the same of tables in several files, as far as it goes
    cleaned_files                       the cleaned files of a table that is larger than memory
    spreadsheets                        text files without what looks like a formula
    textfile, writing, cleaned          the cleaned table, with every other byte as it was
    file_lines                          on which line of its file a row begins

The commands and the page both come this way.
"""
