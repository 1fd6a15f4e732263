//! Security: what is declared, who must satisfy it, and that nothing fails open.

use super::support::{codes, read_body, read_text};
use rest_mcp::openapi::{ParameterIn, SecurityScheme};

#[test]
fn every_scheme_is_understood_or_unsupported() {
    let (api, report) = read_body(
        "3.1.0",
        r"
paths: { /: { get: {} } }
components:
  securitySchemes:
    header: { type: apiKey, in: header, name: X-Key }
    query: { type: apiKey, in: Query, name: key }
    cookie: { type: apiKey, in: cookie, name: sid }
    basic: { type: http, scheme: BASIC }
    bearer: { type: http, scheme: bearer, bearerFormat: JWT }
    digest: { type: http, scheme: digest }
    oauth: { type: oauth2, flows: { clientCredentials: { tokenUrl: 'https://a.example/t', scopes: { r: read } }, implicit: { authorizationUrl: 'https://a.example/a', scopes: { w: write, r: read } }, deviceAuthorization: {} } }
    bare: { type: oauth2, flows: { authorizationCode: { authorizationUrl: x, tokenUrl: y } } }
    oidc: { type: openIdConnect, openIdConnectUrl: 'https://a.example/.well-known/openid-configuration' }
    tls: { type: mutualTLS }
    odd: { type: smoke-signal }
    nameless: { type: apiKey, in: header }
",
    );
    let scheme = |name: &str| &api.security_schemes[name];
    let key = |location, name: &str| SecurityScheme::ApiKey { location, name: name.to_owned() };
    assert_eq!(*scheme("header"), key(ParameterIn::Header, "X-Key"));
    assert_eq!(*scheme("query"), key(ParameterIn::Query, "key"));
    assert_eq!(*scheme("cookie"), key(ParameterIn::Cookie, "sid"));
    assert_eq!(*scheme("basic"), SecurityScheme::Basic);
    assert_eq!(*scheme("bearer"), SecurityScheme::Bearer);
    assert_eq!(*scheme("tls"), SecurityScheme::MutualTls);
    let SecurityScheme::OAuth2 { token_url, scopes } = scheme("oauth") else { panic!() };
    assert_eq!(token_url.as_deref(), Some("https://a.example/t"));
    assert_eq!(*scopes, ["w", "r"]);
    assert_eq!(*scheme("bare"), SecurityScheme::OAuth2 { token_url: None, scopes: vec![] });
    assert!(matches!(scheme("oidc"), SecurityScheme::OpenIdConnect { url } if url.ends_with("openid-configuration")));
    for name in ["digest", "odd", "nameless"] {
        assert!(matches!(scheme(name), SecurityScheme::Unsupported(_)), "{name}");
    }
    assert_eq!(codes(&report), ["unsupported-security"; 3]);
}

#[test]
fn schemes_of_swagger_2() {
    let (api, report) = read_text(
        "{ swagger: '2.0', paths: {}, securityDefinitions: { b: { type: basic }, k: { type: apiKey, in: query, name: k }, app: { type: oauth2, flow: application, tokenUrl: 'https://t', scopes: { a: b } }, code: { type: oauth2, flow: accessCode, tokenUrl: 'https://t', authorizationUrl: 'https://a', scopes: {} } } }",
    );
    assert_eq!(api.security_schemes["b"], SecurityScheme::Basic);
    assert_eq!(
        api.security_schemes["app"],
        SecurityScheme::OAuth2 { token_url: Some("https://t".to_owned()), scopes: vec!["a".to_owned()] }
    );
    assert_eq!(api.security_schemes["code"], SecurityScheme::OAuth2 { token_url: None, scopes: vec![] });
    assert_eq!(codes(&report), ["no-operations"]);
}

#[test]
fn alternatives_overrides_and_anonymous_access() {
    let (api, report) = read_body(
        "3.0.0",
        r"
security: [{ a: [] }, { a: [], b: [x] }]
paths:
  /inherit: { get: {} }
  /none: { get: { security: [] } }
  /optional: { get: { security: [{}, { a: [] }] } }
  /own: { get: { security: [{ b: [y, z] }] } }
components: { securitySchemes: { a: { type: http, scheme: basic }, b: { type: http, scheme: bearer } } }
",
    );
    let found: Vec<Vec<Vec<(String, usize)>>> = api
        .operations
        .iter()
        .map(|it| {
            it.security
                .iter()
                .map(|all| all.iter().map(|one| (one.scheme.clone(), one.scopes.len())).collect())
                .collect()
        })
        .collect();
    let (a, b) = (|n| ("a".to_owned(), n), |n| ("b".to_owned(), n));
    assert_eq!(found, [vec![vec![a(0)], vec![a(0), b(1)]], vec![], vec![vec![], vec![a(0)]], vec![vec![b(2)]]]);
    assert!(report.is_empty());
}

#[test]
fn what_can_not_be_read_is_never_open() {
    for security in ["[{ gone: [] }]", "wrong", "[wrong]", "{ gone: [] }"] {
        let (api, report) = read_body("3.0.0", &format!("paths: {{ /: {{ get: {{ security: {security} }} }} }}"));
        let alternatives = &api.operations[0].security;
        assert_eq!(alternatives.len(), 1, "{security}");
        let scheme = &alternatives[0][0].scheme;
        assert!(matches!(api.security_schemes[scheme], SecurityScheme::Unsupported(_)), "{security}");
        assert!(report.warnings() > 0, "{security}");
    }
}
