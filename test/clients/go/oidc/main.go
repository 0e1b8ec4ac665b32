// Logs in and refreshes with go-oidc. Reads the client's configuration as one line of JSON, prints the address for the
// browser, reads where the browser came back to, and prints what it got as JSON.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type input struct {
	Issuer      string `json:"issuer"`
	ClientId    string `json:"clientId"`
	RedirectUri string `json:"redirectUri"`
	Ca          string `json:"ca"`
}

type output map[string]any

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out, err := run(lines)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

func run(lines *bufio.Scanner) (output, error) {
	var in input
	if !lines.Scan() {
		return nil, errors.New("no input")
	}
	if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
		return nil, err
	}
	cas := x509.NewCertPool()
	cas.AppendCertsFromPEM([]byte(in.Ca))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: cas}}
	ctx := oidc.ClientContext(context.Background(), &http.Client{Transport: transport})

	provider, err := oidc.NewProvider(ctx, in.Issuer)
	if err != nil {
		return nil, err
	}
	client := oauth2.Config{
		ClientID: in.ClientId, Endpoint: provider.Endpoint(), RedirectURL: in.RedirectUri,
		Scopes: []string{oidc.ScopeOpenID, oidc.ScopeOfflineAccess},
	}
	verifier, state, nonce := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	start := client.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oidc.Nonce(nonce))
	_ = json.NewEncoder(os.Stdout).Encode(output{"url": start})

	if !lines.Scan() {
		return nil, errors.New("no callback")
	}
	back, err := url.Parse(lines.Text())
	if err != nil {
		return nil, err
	}
	if back.Query().Get("state") != state {
		return nil, errors.New("another state")
	}
	token, err := client.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, err
	}
	idToken, err := verified(ctx, provider, in.ClientId, token)
	if err != nil {
		return nil, err
	}
	if idToken.Nonce != nonce {
		return nil, errors.New("another nonce")
	}
	user, err := provider.UserInfo(ctx, client.TokenSource(ctx, token))
	if err != nil {
		return nil, err
	}
	var claims struct {
		Name string `json:"preferred_username"`
	}
	if err = user.Claims(&claims); err != nil || user.Subject != idToken.Subject {
		return nil, fmt.Errorf("userinfo of another subject: %w", err)
	}
	expired := *token
	expired.Expiry = time.Now().Add(-time.Minute)
	next, err := client.TokenSource(ctx, &expired).Token()
	if err != nil {
		return nil, err
	}
	if _, err = verified(ctx, provider, in.ClientId, next); err != nil {
		return nil, err
	}
	return output{
		"name": claims.Name, "alg": algorithm(token), "isRotated": next.RefreshToken != token.RefreshToken,
	}, nil
}

// Checks signature, issuer, audience, times and at_hash.
func verified(
	ctx context.Context, provider *oidc.Provider, clientId string, token *oauth2.Token,
) (*oidc.IDToken, error) {
	raw, _ := token.Extra("id_token").(string)
	// Without more, it accepts what discovery lists.
	idToken, err := provider.Verifier(&oidc.Config{ClientID: clientId}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	return idToken, idToken.VerifyAccessToken(token.AccessToken)
}

func algorithm(token *oauth2.Token) string {
	raw, _ := token.Extra("id_token").(string)
	var header struct {
		Alg string `json:"alg"`
	}
	encoded, _, _ := strings.Cut(raw, ".")
	decoded, _ := base64.RawURLEncoding.DecodeString(encoded)
	_ = json.Unmarshal(decoded, &header)
	return header.Alg
}
