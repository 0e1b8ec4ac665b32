// Runs one case with the unmodified Go SDK of OpenZiti, as described by the JSON on standard input, and prints what it
// got as JSON. Any failure is printed as {"error": …} with exit code 1.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/go-openapi/strfmt"
	"github.com/openziti/edge-api/rest_client_api_client/authentication"
	"github.com/openziti/edge-api/rest_client_api_client/current_api_session"
	"github.com/openziti/edge-api/rest_client_api_client/current_identity"
	"github.com/openziti/edge-api/rest_management_api_client/api_session"
	"github.com/openziti/edge-api/rest_management_api_client/auth_policy"
	"github.com/openziti/edge-api/rest_management_api_client/external_jwt_signer"
	"github.com/openziti/edge-api/rest_management_api_client/identity"
	"github.com/openziti/edge-api/rest_model"
	edgeapis "github.com/openziti/sdk-golang/edge-apis"
	"github.com/openziti/sdk-golang/ziti"
	"github.com/openziti/sdk-golang/ziti/enroll"
)

type credential struct {
	Method   string `json:"method"`
	Username string `json:"username"`
	Password string `json:"password"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	Jwt      string `json:"jwt"`
	Second   string `json:"second"`
}

type input struct {
	Case       string     `json:"case"`
	Url        string     `json:"url"`
	Ca         string     `json:"ca"`
	Oidc       bool       `json:"oidc"`
	Credential credential `json:"credential"`
	TotpCode   string     `json:"totpCode"`
	Jwt        string     `json:"jwt"`
	Folder     string     `json:"folder"`
}

type output map[string]any

var lines = bufio.NewScanner(os.Stdin)

func main() {
	lines.Buffer(nil, 1<<20)
	var in input
	if !lines.Scan() {
		fail(errors.New("no input"))
	}
	if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
		fail(err)
	}
	cases := map[string]func(input) (output, error){
		"login": login, "refresh": refresh, "session-certificate": sessionCertificate,
		"context": context, "enroll": enrollAny, "management": management,
	}
	run, found := cases[in.Case]
	if !found {
		fail(fmt.Errorf("unknown case %q", in.Case))
	}
	out, err := run(in)
	if err != nil {
		fail(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

func fail(err error) {
	_ = json.NewEncoder(os.Stdout).Encode(output{"error": err.Error()})
	os.Exit(1)
}

func pool(in input) *x509.CertPool {
	cas := x509.NewCertPool()
	cas.AppendCertsFromPEM([]byte(in.Ca))
	return cas
}

func credentials(in input) (edgeapis.Credentials, error) {
	given := in.Credential
	var made edgeapis.Credentials
	switch given.Method {
	case "password":
		updb := edgeapis.NewUpdbCredentials(given.Username, given.Password)
		updb.CaPool = pool(in)
		made = updb
	case "cert":
		pair, err := tls.X509KeyPair([]byte(given.Cert), []byte(given.Key))
		if err != nil {
			return nil, err
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return nil, err
		}
		made = edgeapis.NewCertCredentials([]*x509.Certificate{leaf}, pair.PrivateKey)
	case "ext-jwt":
		made = edgeapis.NewJwtCredentials(given.Jwt)
	default:
		return nil, fmt.Errorf("unknown method %q", given.Method)
	}
	if given.Second != "" {
		made.AddJWT(given.Second)
	}
	return made, nil
}

func clientOf(in input) (*edgeapis.ClientApiClient, edgeapis.ApiSession, error) {
	api, err := url.Parse(in.Url + "/edge/client/v1")
	if err != nil {
		return nil, nil, err
	}
	client := edgeapis.NewClientApiClientWithConfig(&edgeapis.ApiClientConfig{
		ApiUrls: []*url.URL{api}, CaPool: pool(in),
		TotpCodeProvider: edgeapis.NewTotpCodeProviderFromChStringFunc(func(code chan string) {
			code <- in.TotpCode
		}),
		TotpEnrollmentProvider: edgeapis.TotpEnrollmentProviderFunc(scanned),
	})
	client.SetAllowOidcDynamicallyEnabled(false)
	client.SetUseOidc(in.Oidc)
	chosen, err := credentials(in)
	if err != nil {
		return nil, nil, err
	}
	session, err := client.Authenticate(chosen, nil)
	return client, session, err
}

// Shows what an authenticator app scans, and reads the code that the app shows.
func scanned(provisioningUrl string) <-chan edgeapis.TotpEnrollmentResult {
	_ = json.NewEncoder(os.Stdout).Encode(output{"url": provisioningUrl})
	result := make(chan edgeapis.TotpEnrollmentResult, 1)
	if lines.Scan() {
		result <- edgeapis.TotpEnrollmentResult{Code: lines.Text()}
	} else {
		result <- edgeapis.TotpEnrollmentResult{Err: errors.New("no code")}
	}
	return result
}

func whoami(client *edgeapis.ClientApiClient) (output, error) {
	reply, err := client.API.CurrentIdentity.GetCurrentIdentity(current_identity.NewGetCurrentIdentityParams(), nil)
	if err != nil {
		return nil, err
	}
	data := reply.Payload.Data
	return output{"name": *data.Name, "type": data.Type.ID, "typeId": *data.TypeID}, nil
}

func login(in input) (output, error) {
	client, session, err := clientOf(in)
	if err != nil {
		return nil, err
	}
	if !in.Oidc && in.TotpCode != "" {
		// A legacy session is partial until the application answers the query.
		params := authentication.NewAuthenticateMfaParams()
		params.MfaAuth = &rest_model.MfaCode{Code: &in.TotpCode}
		if _, err = client.API.Authentication.AuthenticateMfa(params, session); err != nil {
			return nil, err
		}
	}
	out, err := whoami(client)
	if err != nil {
		return nil, err
	}
	out["session"] = fmt.Sprintf("%T", session)
	return out, nil
}

func refresh(in input) (output, error) {
	client, session, err := clientOf(in)
	if err != nil {
		return nil, err
	}
	chosen, err := credentials(in)
	if err != nil {
		return nil, err
	}
	for i := 0; i < 3; i++ {
		if session, err = client.AuthenticateWithPreviousSession(chosen, session); err != nil {
			return nil, err
		}
	}
	return whoami(client)
}

func sessionCertificate(in input) (output, error) {
	client, _, err := clientOf(in)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "a client"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return nil, err
	}
	csr := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	params := current_api_session.NewCreateCurrentAPISessionCertificateParams()
	params.SessionCertificate = &rest_model.CurrentAPISessionCertificateCreate{Csr: &csr}
	reply, err := client.API.CurrentAPISession.CreateCurrentAPISessionCertificate(params, nil)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode([]byte(*reply.Payload.Data.Certificate))
	if block == nil {
		return nil, errors.New("no certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	return output{"ownKey": key.PublicKey.Equal(certificate.PublicKey)}, nil
}

// A context, as applications make one, from a password: it also asks for services and routers.
func context(in input) (output, error) {
	chosen, err := credentials(in)
	if err != nil {
		return nil, err
	}
	return contextWith(&ziti.Config{ZtAPI: in.Url + "/edge/client/v1", Credentials: chosen}, in)
}

func contextWith(config *ziti.Config, in input) (output, error) {
	made, err := ziti.NewContext(config)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	if err = made.Authenticate(); err != nil {
		return nil, err
	}
	services, err := made.GetServices()
	if err != nil {
		return nil, err
	}
	own, err := made.GetCurrentIdentity()
	if err != nil {
		return nil, err
	}
	return output{"name": *own.Name, "services": len(services)}, nil
}

func enrollAny(in input) (output, error) {
	claims, token, err := enroll.ParseToken(in.Jwt)
	if err != nil {
		return nil, err
	}
	flags := enroll.EnrollmentFlags{Token: claims, JwtToken: token, JwtString: in.Jwt}
	flags.Username, flags.Password = in.Credential.Username, in.Credential.Password
	if err = flags.KeyAlg.Set("EC"); err != nil {
		return nil, err
	}
	if in.Credential.Cert != "" {
		flags.CertFile, flags.KeyFile = in.Folder+"/cert.pem", in.Folder+"/key.pem"
		if err = os.WriteFile(flags.CertFile, []byte(in.Credential.Cert), 0o600); err != nil {
			return nil, err
		}
		if err = os.WriteFile(flags.KeyFile, []byte(in.Credential.Key), 0o600); err != nil {
			return nil, err
		}
	}
	config, err := enroll.Enroll(flags)
	if err != nil {
		return nil, err
	}
	return contextWith(config, in)
}

func management(in input) (output, error) {
	api, err := url.Parse(in.Url + "/edge/management/v1")
	if err != nil {
		return nil, err
	}
	client := edgeapis.NewManagementApiClient([]*url.URL{api}, pool(in), nil)
	client.SetAllowOidcDynamicallyEnabled(false)
	client.SetUseOidc(in.Oidc)
	chosen, err := credentials(in)
	if err != nil {
		return nil, err
	}
	if _, err = client.Authenticate(chosen, nil); err != nil {
		return nil, err
	}
	suffix := fmt.Sprint(in.Oidc)
	yes, no, zero, eight := true, false, int64(0), int64(8)
	user, name, policyName := rest_model.IdentityTypeUser, "made by Go "+suffix, "of Go "+suffix
	create := identity.NewCreateIdentityParams()
	cost := rest_model.TerminatorCost(0)
	create.Identity = &rest_model.IdentityCreate{
		Name: &name, Type: &user, IsAdmin: &no, DefaultHostingCost: &cost,
		Enrollment: &rest_model.IdentityCreateEnrollment{Ott: true},
	}
	created, err := client.API.Identity.CreateIdentity(create, nil)
	if err != nil {
		return nil, err
	}
	detail := identity.NewDetailIdentityParams()
	detail.ID = created.Payload.Data.ID
	found, err := client.API.Identity.DetailIdentity(detail, nil)
	if err != nil {
		return nil, err
	}
	listed, err := client.API.Identity.ListIdentities(identity.NewListIdentitiesParams(), nil)
	if err != nil {
		return nil, err
	}
	policy := auth_policy.NewCreateAuthPolicyParams()
	policy.AuthPolicy = &rest_model.AuthPolicyCreate{
		Name: &policyName,
		Primary: &rest_model.AuthPolicyPrimary{
			Cert:   &rest_model.AuthPolicyPrimaryCert{Allowed: &yes, AllowExpiredCerts: &no},
			ExtJWT: &rest_model.AuthPolicyPrimaryExtJWT{Allowed: &no, AllowedSigners: []string{}},
			Updb: &rest_model.AuthPolicyPrimaryUpdb{
				Allowed: &yes, LockoutDurationMinutes: &zero, MaxAttempts: &zero, MinPasswordLength: &eight,
				RequireMixedCase: &no, RequireNumberChar: &no, RequireSpecialChar: &no,
			},
		},
		Secondary: &rest_model.AuthPolicySecondary{RequireTotp: &no},
	}
	if _, err = client.API.AuthPolicy.CreateAuthPolicy(policy, nil); err != nil {
		return nil, err
	}
	issuer, audience := "https://go.example/"+suffix, "ziti"
	signerName := "signer of Go " + suffix
	signer := external_jwt_signer.NewCreateExternalJWTSignerParams()
	keys := rest_model.ExternalJWTSignerCreate{Name: &signerName, Issuer: &issuer, Audience: &audience, Enabled: &yes}
	endpoint := strfmt.URI("https://127.0.0.1:1/keys")
	keys.JwksEndpoint = &endpoint
	signer.ExternalJWTSigner = &keys
	if _, err = client.API.ExternalJWTSigner.CreateExternalJWTSigner(signer, nil); err != nil {
		return nil, err
	}
	newName := name + ", renamed"
	patch := identity.NewPatchIdentityParams()
	patch.ID, patch.Identity = created.Payload.Data.ID, &rest_model.IdentityPatch{Name: &newName}
	if _, err = client.API.Identity.PatchIdentity(patch, nil); err != nil {
		return nil, err
	}
	renamed, err := client.API.Identity.DetailIdentity(detail, nil)
	if err != nil {
		return nil, err
	}
	policies, err := client.API.AuthPolicy.ListAuthPolicies(auth_policy.NewListAuthPoliciesParams(), nil)
	if err != nil {
		return nil, err
	}
	sessions, err := client.API.APISession.ListAPISessions(api_session.NewListAPISessionsParams(), nil)
	if err != nil {
		return nil, err
	}
	remove := identity.NewDeleteIdentityParams()
	remove.ID = created.Payload.Data.ID
	if _, err = client.API.Identity.DeleteIdentity(remove, nil); err != nil {
		return nil, err
	}
	return output{
		"renamed": *renamed.Payload.Data.Name == newName, "policies": len(policies.Payload.Data),
		"sessions": len(sessions.Payload.Data),
		"type":     found.Payload.Data.Type.ID, "jwt": found.Payload.Data.Enrollment.Ott.JWT != "",
		"identities": len(listed.Payload.Data),
	}, nil
}
