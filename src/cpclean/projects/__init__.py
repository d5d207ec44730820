"""Projects: a task and its settings as bytes that any machine can open.

    project, project_settings, sources   the project, its settings, and what it was made from
    table_bytes, frame_bytes             tables and dataframes as bytes, and back
    file_sources                         where the files of a large table are, and back
    point_bytes                          points and their completions as bytes, and back
    plain_values, packing                single values as JSON; many parts in one string of bytes
    fingerprint                          which table and settings answers belong to

`cpclean.storage` saves these bytes.
"""
