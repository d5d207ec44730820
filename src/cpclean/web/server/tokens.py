"""Secrets and signatures: who knows the token, and that a cookie is one of ours.

Nothing is kept on the server: a session is a random number with a signature, so that it holds in
every process that was started with the same token, and after a restart.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


class Tokens:
    """Makes and checks signatures with keys that come from one token.

    Parameters
    ----------
    token : str
        Empty: everybody is let in, and signatures hold for this process only.

    Examples
    --------
    >>> tokens = Tokens("secret")
    >>> tokens.is_token("secret"), tokens.is_token("sekret")
    (True, False)
    >>> tokens.opened(tokens.sealed("Ann", "name"), "name")
    'Ann'
    >>> tokens.opened(tokens.sealed("Ann", "name"), "session") is None
    True
    """

    def __init__(self, token: str) -> None:
        self.open = not token
        self._token = token.encode()
        self._key = self._token or secrets.token_bytes(32)

    def is_token(self, given: str) -> bool:
        """Whether this is the token; it takes as long for a wrong one."""
        return bool(self._token) and _same(given.encode(errors="replace"), self._token)

    def new_session(self) -> str:
        """A session that this server will know again."""
        return self.sealed(secrets.token_urlsafe(16), "session")

    def is_session(self, cookie: str) -> bool:
        return self.opened(cookie, "session") is not None

    def csrf(self, session: str) -> str:
        """What a form of this session has to bring; other sites cannot know it."""
        return self._signature(session, "csrf")

    def is_csrf(self, given: str, session: str) -> bool:
        return _same(given.encode(errors="replace"), self.csrf(session).encode())

    def sealed(self, text: str, purpose: str) -> str:
        """A text with a signature, in letters that a cookie can hold."""
        plain = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        return f"{plain}.{self._signature(plain, purpose)}"

    def opened(self, cookie: str, purpose: str) -> str | None:
        """The text of a cookie that was sealed for this purpose; None for any other."""
        plain, _, signature = cookie.partition(".")
        right = self._signature(plain, purpose)
        if not _same(signature.encode(errors="replace"), right.encode()):
            return None
        try:
            return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4)).decode()
        except (binascii.Error, ValueError):
            return None

    def _signature(self, text: str, purpose: str) -> str:
        message = f"{purpose}\0{text}".encode(errors="replace")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()


def _same(one: bytes, other: bytes) -> bool:
    """Whether two texts are the same, without telling by the time it takes where they differ."""
    return hmac.compare_digest(one, other)
