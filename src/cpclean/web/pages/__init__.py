"""The pages for people: forms, templates and their words.

    routes, rendering, forms            the addresses; templates; what people send
    naming, asking, question_page       who is answering; the page of a question
    answer_fields                       the field of each hole, with the control that fits
    overview, progress_picture          progress, list of rows, export
    team                                a person's next questions; experts, gold, who is here
    setup, drafts, drafting             from an uploaded file to a project
    upload_folder                       where uploaded files are until then
    wording                             numbers, reasons and hints in words

Scripts only make the pages more pleasant.
"""
