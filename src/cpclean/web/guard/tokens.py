"""Secrets and signatures: who knows the token, and whether this server made a cookie.

Nothing is saved on the server: a session is a random number with a signature, so that it is valid
in every process that was started with the same token, also after a restart, until it expires.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from itsdangerous import BadData, Signer, URLSafeTimedSerializer

COOKIE_SECONDS = 30 * 24 * 3600
# 48 bytes leave no spare bits in base64, so that a signature has only one spelling.
_SIGNING = {"key_derivation": "hmac", "digest_method": hashlib.sha384}


def new_token() -> str:
    """Draw a token that nobody can guess."""
    return secrets.token_urlsafe(24)


def answer_token_of(token: str) -> str:
    """The token of those who only answer, for an owner's: the same on every server and start.

    Nobody can tell the owner's from it.

    >>> answer_token_of("secret") == answer_token_of("secret") != answer_token_of("sekret")
    True
    """
    found = hmac.digest(token.encode(), b"cpclean answers", "sha256")
    return base64.urlsafe_b64encode(found[:24]).decode()


class Tokens:
    """Makes and checks signatures with keys that are derived from one token.

    Parameters
    ----------
    token : str
        Empty: everybody is let in, and signatures are valid in this process only.

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
        """Whether this is the token; comparing takes the same time wherever they differ."""
        return bool(self._token) and hmac.compare_digest(
            given.encode(errors="replace"), self._token
        )

    def new_session(self) -> str:
        """A session that this server will recognize."""
        return self.sealed(secrets.token_urlsafe(16), "session")

    def is_session(self, cookie: str) -> bool:
        return self.opened(cookie, "session") is not None

    def csrf(self, session: str) -> str:
        """What a form of this session must include; other sites cannot know it."""
        return self._signer().get_signature(session).decode()

    def is_csrf(self, given: str, session: str) -> bool:
        return self._signer().verify_signature(session, given)

    def sealed(self, text: str, purpose: str) -> str:
        """A text with its time and a signature, in characters that a cookie can hold."""
        return str(self._serializer(purpose).dumps(text))

    def opened(self, cookie: str, purpose: str) -> str | None:
        """The text of a cookie that was sealed for this purpose and has not expired, or None."""
        try:
            return str(self._serializer(purpose).loads(cookie, max_age=COOKIE_SECONDS))
        except (BadData, UnicodeError):
            return None

    def _serializer(self, purpose: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self._key, salt=f"cpclean {purpose}", signer_kwargs=_SIGNING)

    def _signer(self) -> Signer:
        return self._serializer("csrf").make_signer()
