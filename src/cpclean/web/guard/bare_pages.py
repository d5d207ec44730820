"""Pages that must work where nothing else does: the login, and errors before anybody is let in.

Written out here rather than in templates, which belong to the pages behind the guard.
"""

from __future__ import annotations

from html import escape

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · cpclean</title>
<link rel="icon" href="{root}/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}/static/colours.css">
<link rel="stylesheet" href="{root}/static/base.css">
<link rel="stylesheet" href="{root}/static/parts.css">
</head>
<body>
<header class="top"><div class="top-in"><a class="brand" href="{root}/">cpclean</a></div></header>
<main id="main"><section class="card"><h1>{title}</h1>
{inner}
</section></main>
</body>
</html>
"""

LOGIN = """<p class="lead">Open the link that you were sent, or enter its token here: what
stands after “token=”. The server printed its links when it started.</p>
<form method="post" action="{root}/login">
<input type="hidden" name="next" value="{target}">
<div class="free-line"><div class="field"><label for="token">Token</label>
<div class="input-line"><input id="token" name="token" type="password" required autofocus
autocomplete="current-password"{invalid}><button class="main-button">Log in</button></div>
</div></div>
{remark}
</form>"""

WRONG = ' aria-invalid="true" aria-describedby="wrong-token"'


def login_page(target: str, wrong: bool, root: str = "") -> str:
    """The form for the token, which leads on to a target.

    >>> "not the token of this server" in login_page("/", wrong=True)
    True
    """
    remark = "This is not the token of this server."
    shown = f'<p class="wrong" id="wrong-token" role="alert">{remark}</p>' if wrong else ""
    inner = LOGIN.format(
        target=escape(target), invalid=WRONG if wrong else "", remark=shown, root=root
    )
    return PAGE.format(title="Log in", inner=inner, root=root)


def message_page(title: str, text: str = "", root: str = "") -> str:
    """A heading, a sentence, and the way back."""
    back = f'<a class="button main-button" href="{root}/">Go to the first page</a>'
    inner = f'<p class="lead">{escape(text)}</p>{back}'
    return PAGE.format(title=escape(title), inner=inner, root=root)
