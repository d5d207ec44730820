"""The desk: questions out, answers in, and the engine that computes ahead.

    workplace, desk            the project of a server, and the desk over its storage
    handing_out, taking_in     which row a person gets; answers, checked and saved
    allotting, experts         who is asked about which rows and cells
    gold, team_settings        rows whose truth is known; what the owner says about the team
    presence, notifying        who is here; a message when the target is reached
    engine, details            what is computed ahead; what a question shows
    why_asked                  why a row is asked about, in words
    sure_shares, recalling     what was sure after earlier answers; what each of them did
    column_looks               what each column would settle
    trying                     trials on the complete rows, when somebody asks for them
    project_rows, listing      the rows with holes; the list of them
    naming_rows                by which people recognise a row; the link to its record
    row_images                 pictures of rows, from beneath the folder of the table
    progress, exporting        the progress so far; files to download
    audit, file_cells          what was answered, cell by cell; cells as the file writes them
    views, cell_views          what people and programs see

Pages and API both use the desk, and nothing behind it.
"""
