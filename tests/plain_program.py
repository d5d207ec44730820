"""The program in the plain space, as with --space plain --neighbors 3 wherever that is possible.

Most tests of commands and pages have figures of the plain space; those of the forest are in
`cli/test_spaces.py` and `web/test_spaces.py`.
"""

CODE = "from cpclean.cli import main, options; options.USUAL_SPACE = 'plain'; main()"
# The same where tables are set up by page.
PAGE_CODE = f"from cpclean.web.pages import drafts; drafts.USUAL_SPACE = 'plain'; {CODE}"
