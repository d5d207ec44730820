"""What `cpclean serve` is told about tokens, paths and proxies, checked before it begins."""

from __future__ import annotations

import ipaddress

from cpclean.cli.mistakes import Mistake


def check_tokens(host: str, token: str, answer_token: str) -> None:
    """Refuse tokens that are short or the same, and none where others could come in."""
    from cpclean.web.server.process import is_loopback

    for name, one in (("--token", token), ("--answer-token", answer_token)):
        if one and len(one) < 8:
            raise Mistake(f"{name} must have at least 8 characters; got {len(one)}.")
    if answer_token and answer_token == token:
        raise Mistake("--token and --answer-token must differ: the first one is the owner's.")
    if answer_token and not token:
        raise Mistake("without a token everybody is an owner: leave out --answer-token as well.")
    if not token and not is_loopback(host):
        raise Mistake(
            f"without a token, anybody who reaches {host} could read the table and answer. Leave "
            "out --token to get a random one, or listen on 127.0.0.1."
        )


def root_of_option(given: str) -> str:
    """What stands before all paths: "" or "/" and a name, without a slash at its end."""
    from cpclean.web.guard.prefixes import is_root_path

    root = given.rstrip("/")
    if not is_root_path(root):
        raise Mistake(
            f"--root-path must be like /cpclean or /tools/cpclean, in plain letters; got {given!r}."
        )
    return root


def check_proxies(given: tuple[str, ...]) -> None:
    """Refuse what is no address of a proxy."""
    for one in given:
        try:
            ipaddress.ip_network(one)
        except ValueError:
            raise Mistake(
                f"--trust-proxy must be an address or a network, such as 10.0.0.2 or 10.0.0.0/24; "
                f"got {one!r}."
            ) from None
