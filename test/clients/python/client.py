"""Runs one case with a Python client, as described by the JSON on standard input, and prints what it got as JSON."""
import base64
import json
import os
import secrets
import sys
from urllib.parse import parse_qs, urlparse


def libziti(given):
    """The real libziti of the wheel: enrolls, and logs in with what it got."""
    import openziti

    text = openziti.enroll(given["jwt"])
    path = os.path.join(given["folder"], "identity.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    # Comes back only once there are services; its log tells the test how far it got.
    openziti.load(path)
    return {"isLoaded": True}


def authlib(given):
    """Authlib, with the discovery document checked as strictly as it can."""
    import requests
    from authlib.jose import JsonWebKey, jwt
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.oidc.core import CodeIDToken
    from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url

    ca, issuer, client_id = given["caFile"], given["issuer"], given["clientId"]
    document = requests.get(get_well_known_url(issuer, external=True), verify=ca, timeout=30).json()
    metadata = OpenIDProviderMetadata(document)
    metadata.validate()

    redirect_uri = "http://127.0.0.1:9876/callback"
    session = OAuth2Session(
        client_id, None, scope="openid offline_access", redirect_uri=redirect_uri,
        code_challenge_method="S256", token_endpoint_auth_method="none",
    )
    session.verify = ca
    verifier, nonce = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    begun = requests.get(url, verify=ca, allow_redirects=False, timeout=30)
    login = requests.compat.urljoin(url, begun.headers["location"])
    form = {"username": given["username"], "password": given["password"]}
    answer = requests.post(login, data=form, verify=ca, allow_redirects=False, timeout=30)
    while not answer.headers["location"].startswith(redirect_uri):
        answer = requests.get(answer.headers["location"], verify=ca, allow_redirects=False, timeout=30)
    back = answer.headers["location"]
    assert parse_qs(urlparse(back).query)["state"] == [state]
    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=back, code_verifier=verifier, state=state,
        verify=ca,
    )
    keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], verify=ca, timeout=30).json())
    options = {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}}
    claims = jwt.decode(
        tokens["id_token"], keys, claims_cls=CodeIDToken, claims_options=options,
        claims_params={"nonce": nonce, "client_id": client_id, "access_token": tokens["access_token"]},
    )
    claims.validate()
    header = json.loads(base64.urlsafe_b64decode(tokens["id_token"].split(".")[0] + "=="))
    refreshed = session.refresh_token(metadata["token_endpoint"], refresh_token=tokens["refresh_token"], verify=ca)
    return {
        "name": claims["preferred_username"], "alg": header["alg"],
        "isRotated": refreshed["refresh_token"] != tokens["refresh_token"],
    }


def main():
    given = json.load(sys.stdin)
    try:
        print(json.dumps({"libziti": libziti, "authlib": authlib}[given["case"]](given)), flush=True)
    except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
        print(json.dumps({"error": repr(error)}), flush=True)
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
