//! Logs in and refreshes with the crate openidconnect. Reads the client's configuration as one line of JSON, prints the
//! address for the browser, reads where the browser came back to, and prints what it got as JSON.
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata, CoreUserInfoClaims};
use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClientId, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, RedirectUrl, Scope, TokenResponse,
};
use serde_json::{json, Value};
use std::error::Error;
use std::io::{stdin, BufRead};

fn main() -> Result<(), Box<dyn Error>> {
    let mut lines = stdin().lock().lines();
    let given: Value = serde_json::from_str(&lines.next().ok_or("no input")??)?;
    let text = |name: &str| given[name].as_str().unwrap_or_default().to_string();
    let http = reqwest::blocking::ClientBuilder::new()
        .redirect(reqwest::redirect::Policy::none())
        .tls_built_in_root_certs(false)
        .add_root_certificate(reqwest::Certificate::from_pem(text("ca").as_bytes())?)
        .build()?;

    let metadata = CoreProviderMetadata::discover(&IssuerUrl::new(text("issuer"))?, &http)?;
    let client = CoreClient::from_provider_metadata(metadata, ClientId::new(text("clientId")), None)
        .set_redirect_uri(RedirectUrl::new(text("redirectUri"))?);
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state, nonce) = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
        .add_scope(Scope::new("offline_access".to_string()))
        .set_pkce_challenge(challenge)
        .url();
    println!("{}", json!({ "url": url.as_str() }));

    let back = openidconnect::url::Url::parse(&lines.next().ok_or("no callback")??)?;
    let parameter = |name: &str| {
        let found = back.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    if parameter("state") != *state.secret() {
        return Err("another state".into());
    }
    let tokens = client
        .exchange_code(AuthorizationCode::new(parameter("code")))?
        .set_pkce_verifier(verifier)
        .request(&http)?;
    let id_token = tokens.id_token().ok_or("no ID token")?;
    // Without being told otherwise, it accepts RS256 alone, as OpenID Connect says.
    let id_verifier = client.id_token_verifier();
    let claims = id_token.claims(&id_verifier, &nonce)?;
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg()?,
        id_token.signing_key(&id_verifier)?,
    )?;
    if claims.access_token_hash() != Some(&hash) {
        return Err("another at_hash".into());
    }
    let user: CoreUserInfoClaims =
        client.user_info(tokens.access_token().clone(), Some(claims.subject().clone()))?.request(&http)?;
    let refresh_token = tokens.refresh_token().ok_or("no refresh token")?;
    let refreshed = client.exchange_refresh_token(refresh_token)?.request(&http)?;
    let next = refreshed.id_token().ok_or("no ID token of the refresh")?;
    next.claims(&id_verifier, |_: Option<&Nonce>| Ok(()))?;
    println!(
        "{}",
        json!({
            "name": user.preferred_username().map(|name| name.as_str()),
            "alg": id_token.signing_alg()?,
            "isRotated": refreshed.refresh_token().map(|token| token.secret()) != Some(refresh_token.secret()),
        })
    );
    Ok(())
}
