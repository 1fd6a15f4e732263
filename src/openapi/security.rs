//! Security schemes and requirements. What can't be understood is kept as a scheme that nothing
//! satisfies, so that calls fail closed.

use super::finding::Finding;
use super::node::Node;
use super::read::Reader;
use super::server::resolve;
use super::text::scalar;
use super::{ParameterIn, SecurityRequirement, SecurityScheme};
use serde_json::{Map, Value, json};

impl<'a> Reader<'a> {
    /// `components.securitySchemes` or 2.0 `securityDefinitions`.
    pub(super) fn security_schemes(&mut self, owner: Option<Node<'a>>) {
        let Some(owner) = owner else { return };
        let Ok(owner) = self.references.follow(owner) else { return };
        for (name, node) in owner.node.members().into_iter().filter(|(name, _)| !name.starts_with("x-")) {
            let scheme = match self.references.follow(node) {
                Ok(followed) => self.security_scheme(name, &followed.node),
                Err(problem) => {
                    let why = problem.message.clone();
                    self.findings.add(Finding { severity: crate::diagnostic::Severity::Warning, ..problem });
                    SecurityScheme::Unsupported(why)
                }
            };
            self.schemes.insert(name.to_owned(), scheme);
        }
    }

    fn security_scheme(&mut self, name: &str, node: &Node<'a>) -> SecurityScheme {
        let kind = node.text("type").unwrap_or("");
        let scheme = match kind {
            "mutualTLS" => SecurityScheme::MutualTls,
            "basic" => SecurityScheme::Basic,
            _ => match serde_path_to_error::deserialize(plain_scheme(node.value)) {
                Ok(typed) => typed_scheme(typed, self.base(node.document)),
                Err(problem) => SecurityScheme::Unsupported(format!("{kind}: {}", problem.into_inner())),
            },
        };
        if let SecurityScheme::Unsupported(why) = &scheme {
            let what =
                format!("security scheme `{name}` is not supported ({why}); operations that need it can't be called");
            self.findings.add(Finding::warning("unsupported-security", node, what));
        }
        scheme
    }

    /// The `security` of the document or an operation; `None` where it says nothing.
    pub(super) fn security(&mut self, owner: &Node<'a>) -> Option<Vec<Vec<SecurityRequirement>>> {
        let node = owner.child("security")?;
        let alternatives = match node.value {
            Value::Array(_) => node.items(),
            Value::Object(_) => {
                self.findings.add(Finding::warning(
                    "invalid-security",
                    &node,
                    "`security` must be a list; its one entry is used",
                ));
                vec![node]
            }
            _ => {
                self.findings.add(Finding::warning(
                    "invalid-security",
                    &node,
                    "`security` must be a list; calls are refused",
                ));
                return Some(vec![vec![self.refused("security")]]);
            }
        };
        Some(alternatives.iter().map(|it| self.requirement(it)).collect())
    }

    fn requirement(&mut self, node: &Node<'a>) -> Vec<SecurityRequirement> {
        if !node.value.is_object() {
            self.findings.add(Finding::warning(
                "invalid-security",
                node,
                "a security requirement must be an object; calls that need it are refused",
            ));
            return vec![self.refused("security")];
        }
        let mut all = Vec::new();
        for (name, scopes) in node.value.as_object().into_iter().flatten() {
            if !self.schemes.contains_key(name) {
                self.unknown_scheme(name, node);
            }
            let scopes = scopes.as_array().into_iter().flatten().filter_map(scalar).collect();
            all.push(SecurityRequirement { scheme: name.clone(), scopes });
        }
        all
    }

    /// 3.2 lets a requirement name a scheme by reference; any other unknown name is a mistake.
    fn unknown_scheme(&mut self, name: &str, node: &Node<'a>) {
        let found = if name.contains(['/', '#']) {
            self.references.resolve(node.document, &node.pointer, name).ok()
        } else {
            None
        };
        let scheme = match found {
            Some(target) => self.security_scheme(name, &target),
            None => {
                let what = format!("security scheme `{name}` is not declared; operations that need it can't be called");
                let known: Vec<&str> = self.schemes.keys().map(String::as_str).collect();
                let mut finding = Finding::warning("unknown-security-scheme", node, what);
                if !known.is_empty() {
                    finding = finding.fix(format!("declared are: {}", known.join(", ")));
                }
                self.findings.add(finding);
                SecurityScheme::Unsupported("not declared in the document".to_owned())
            }
        };
        self.schemes.insert(name.to_owned(), scheme);
    }

    fn refused(&mut self, name: &str) -> SecurityRequirement {
        let name = format!("(invalid {name})");
        let scheme = SecurityScheme::Unsupported("the document's `security` can't be read".to_owned());
        self.schemes.insert(name.clone(), scheme);
        SecurityRequirement { scheme: name, scopes: Vec::new() }
    }
}

/// The Security Scheme Object in the form that the typed reader takes: 2.0 flows turned into 3.x
/// flows, missing scopes filled in, unknown flows left out.
fn plain_scheme(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let mut out: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| !key.starts_with("x-"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    out.remove("description");
    if let Some(place) = out.get("in").and_then(Value::as_str).map(str::to_ascii_lowercase) {
        out.insert("in".to_owned(), Value::String(place));
    }
    if object.get("type").and_then(Value::as_str) != Some("oauth2") {
        return Value::Object(out);
    }
    let mut flows = Map::new();
    let own = object.get("flow").and_then(Value::as_str).map(|flow| {
        let name = match flow {
            "application" => "clientCredentials",
            "accessCode" => "authorizationCode",
            other => other,
        };
        (name.to_owned(), value.clone())
    });
    let declared = object.get("flows").and_then(Value::as_object).into_iter().flatten();
    for (name, flow) in declared.map(|(name, flow)| (name.clone(), flow.clone())).chain(own) {
        let text = |key: &str| flow.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let scopes: Map<String, Value> = flow
            .get("scopes")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, what)| (name.clone(), Value::String(scalar(what).unwrap_or_default())))
            .collect();
        let flow =
            json!({ "authorizationUrl": text("authorizationUrl"), "tokenUrl": text("tokenUrl"), "scopes": scopes });
        flows.insert(name, flow);
    }
    json!({ "type": "oauth2", "flows": flows })
}

fn typed_scheme(scheme: openapiv3::SecurityScheme, base: Option<&str>) -> SecurityScheme {
    use openapiv3::{APIKeyLocation, SecurityScheme as Typed};
    match scheme {
        Typed::APIKey { location, name, .. } => SecurityScheme::ApiKey {
            location: match location {
                APIKeyLocation::Query => ParameterIn::Query,
                APIKeyLocation::Header => ParameterIn::Header,
                APIKeyLocation::Cookie => ParameterIn::Cookie,
            },
            name,
        },
        Typed::HTTP { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => SecurityScheme::Basic,
        Typed::HTTP { scheme, .. } if scheme.eq_ignore_ascii_case("bearer") => SecurityScheme::Bearer,
        Typed::HTTP { scheme, .. } => SecurityScheme::Unsupported(format!("http {scheme}")),
        Typed::OAuth2 { flows, .. } => {
            let token_url = flows.client_credentials.as_ref().map(|it| it.token_url.clone());
            let mut scopes: Vec<String> = Vec::new();
            let lists = [
                flows.implicit.as_ref().map(|it| &it.scopes),
                flows.password.as_ref().map(|it| &it.scopes),
                flows.client_credentials.as_ref().map(|it| &it.scopes),
                flows.authorization_code.as_ref().map(|it| &it.scopes),
            ];
            for scope in lists.into_iter().flatten().flat_map(|it| it.keys()) {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
            let token_url = token_url.filter(|it| !it.is_empty()).map(|it| resolve_whole(base, &it));
            SecurityScheme::OAuth2 { token_url, scopes }
        }
        Typed::OpenIDConnect { open_id_connect_url, .. } => {
            SecurityScheme::OpenIdConnect { url: resolve_whole(base, &open_id_connect_url) }
        }
    }
}

/// Like [`resolve`], the query kept.
fn resolve_whole(base: Option<&str>, url: &str) -> String {
    match url.split_once('?') {
        Some((path, query)) => format!("{}?{query}", resolve(base, path)),
        None => resolve(base, url),
    }
}
