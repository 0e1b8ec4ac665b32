// Logs in and refreshes with Nimbus. Reads the client's configuration as one line of JSON, prints the address for the
// browser, reads where the browser came back to, and prints what it got as JSON.
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.oauth2.sdk.*;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.*;
import com.nimbusds.oauth2.sdk.pkce.*;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.oauth2.sdk.util.JSONObjectUtils;
import com.nimbusds.openid.connect.sdk.*;
import com.nimbusds.openid.connect.sdk.claims.AccessTokenHash;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.AccessTokenValidator;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import net.minidev.json.JSONObject;
import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Map;
import javax.net.ssl.*;

public class Client {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> given = JSONObjectUtils.parse(lines.readLine());
        SSLSocketFactory trusting = trusting((String) given.get("ca"));
        HTTPRequest.setDefaultSSLSocketFactory(trusting);
        ClientID clientId = new ClientID((String) given.get("clientId"));
        URI redirectUri = new URI((String) given.get("redirectUri"));
        OIDCProviderMetadata provider = OIDCProviderMetadata.resolve(new Issuer((String) given.get("issuer")));

        CodeVerifier verifier = new CodeVerifier();
        State state = new State();
        Nonce nonce = new Nonce();
        AuthenticationRequest request =
            new AuthenticationRequest.Builder(ResponseType.CODE, new Scope("openid", "offline_access"), clientId, redirectUri)
                .endpointURI(provider.getAuthorizationEndpointURI())
                .state(state).nonce(nonce).codeChallenge(verifier, CodeChallengeMethod.S256).build();
        System.out.println(JSONObject.toJSONString(Map.of("url", request.toURI().toString())));

        AuthenticationResponse back = AuthenticationResponseParser.parse(new URI(lines.readLine()));
        if (!back.indicatesSuccess()) throw new Exception(back.toErrorResponse().getErrorObject().toString());
        if (!state.equals(back.getState())) throw new Exception("another state");
        if (!provider.getIssuer().equals(back.getIssuer())) throw new Exception("another iss (RFC 9207)");
        AuthorizationCode code = back.toSuccessResponse().getAuthorizationCode();
        OIDCTokens tokens = tokensOf(provider, clientId, new AuthorizationCodeGrant(code, redirectUri, verifier));

        JWSAlgorithm algorithm = (JWSAlgorithm) tokens.getIDToken().getHeader().getAlgorithm();
        // The algorithm is the one that a client has which was not told another: RS256.
        var retriever = new DefaultResourceRetriever(5000, 5000, 0, true, trusting);
        var keys = JWKSourceBuilder.create(provider.getJWKSetURI().toURL(), retriever).build();
        var selector = new JWSVerificationKeySelector<SecurityContext>(JWSAlgorithm.RS256, keys);
        IDTokenValidator validator = new IDTokenValidator(provider.getIssuer(), clientId, selector, null);
        IDTokenClaimsSet claims = validator.validate(tokens.getIDToken(), nonce);
        AccessTokenHash hash = claims.getAccessTokenHash();
        AccessTokenValidator.validate(tokens.getAccessToken(), algorithm, hash);

        UserInfoResponse user = UserInfoResponse.parse(
            new UserInfoRequest(provider.getUserInfoEndpointURI(), tokens.getAccessToken()).toHTTPRequest().send());
        if (!user.indicatesSuccess()) throw new Exception("userinfo: " + user.toErrorResponse().getErrorObject());
        RefreshToken refreshToken = tokens.getRefreshToken();
        OIDCTokens next = tokensOf(provider, clientId, new RefreshTokenGrant(refreshToken));
        validator.validate(next.getIDToken(), null);
        System.out.println(JSONObject.toJSONString(Map.of(
            "name", user.toSuccessResponse().getUserInfo().getPreferredUsername(),
            "alg", algorithm.getName(),
            "isRotated", !refreshToken.equals(next.getRefreshToken()))));
    }

    private static OIDCTokens tokensOf(OIDCProviderMetadata provider, ClientID clientId, AuthorizationGrant grant)
        throws Exception {
        TokenRequest request = new TokenRequest.Builder(provider.getTokenEndpointURI(), clientId, grant).build();
        TokenResponse response = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
        if (!response.indicatesSuccess()) throw new Exception(response.toErrorResponse().getErrorObject().toString());
        return ((OIDCTokenResponse) response.toSuccessResponse()).getOIDCTokens();
    }

    private static SSLSocketFactory trusting(String pem) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null);
        InputStream text = new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8));
        for (Certificate ca : CertificateFactory.getInstance("X.509").generateCertificates(text)) {
            trusted.setCertificateEntry("ca-" + trusted.size(), ca);
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context.getSocketFactory();
    }
}
