//! What `rest-mcp.yaml` says is done.

use super::{Folder, MAPPING, STILL, echo, modern, run, start};
use rest_mcp::app::{Named, Setup, load_all, reachable, settings_problems};
use serde_json::json;

#[tokio::test]
async fn mappings_are_found_beside_the_settings_by_name_and_pattern() {
    let folder = Folder::new("", "http://127.0.0.1:9");
    std::fs::create_dir_all(folder.path("maps/deep/er")).unwrap();
    for name in ["maps/b.yaml", "maps/a.yaml", "maps/.hidden.yaml", "maps/deep/er/c.yaml", "maps/d.txt"] {
        folder.write(name, MAPPING);
    }
    for (pattern, found) in [
        ("maps/*.yaml", &["maps/a.yaml", "maps/b.yaml"][..]),
        ("maps/?.yaml", &["maps/a.yaml", "maps/b.yaml"]),
        ("maps", &["maps/a.yaml", "maps/b.yaml"]),
        ("maps/**/*.yaml", &["maps/a.yaml", "maps/b.yaml", "maps/deep/er/c.yaml"]),
        ("./maps/a.yaml", &["maps/a.yaml"]),
    ] {
        folder.write("rest-mcp.yaml", &format!("version: 1\nmappings: [\"{pattern}\"]\n"));
        let (inputs, _) = folder.setup().await.inputs().await;
        let root = folder.0.path().to_str().unwrap().to_owned();
        let tried: Vec<String> = inputs.tried.iter().map(|path| path.replacen(&format!("{root}/"), "", 1)).collect();
        assert_eq!(tried, found, "{pattern}");
    }
    folder.write("rest-mcp.yaml", "version: 1\nmappings: [\"none/*.yaml\"]\n");
    let (_, report) = folder.setup().await.inputs().await;
    assert!(report.has_errors() && report.render(false).contains("rest-mcp.yaml:2:"), "{}", report.render(false));
}

#[tokio::test]
async fn an_address_that_others_reach_needs_access_rules() {
    for (settings, fine) in [
        ("", false),
        ("allow_public: true\n", true),
        (
            "access: { api_keys: [{ name: a, key_hash: \"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\" }] }\n",
            true,
        ),
        ("access: { anonymous: allow }\n", false),
        ("tls: { cert: c.pem, key: k.pem }\n", false),
        ("tls: { cert: c.pem, key: k.pem, client_ca: ca.pem }\n", true),
    ] {
        let setup = Folder::new(settings, "http://127.0.0.1:9").setup().await;
        for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.7:80"] {
            assert_eq!(reachable(&setup, Some(address)).is_ok(), fine, "{settings}{address}");
        }
        for address in ["127.0.0.1:0", "[::1]:8080", "localhost:8080"] {
            assert!(reachable(&setup, Some(address)).is_ok(), "{settings}{address}");
        }
        assert!(reachable(&setup, Some("nowhere")).is_err());
    }
    let (none, _) = Setup::read(&Named { files: vec!["api.yaml".to_owned()], ..Named::default() }).await;
    assert!(reachable(&none.unwrap(), Some("0.0.0.0:8080")).is_err());
}

#[tokio::test]
async fn every_problem_of_the_settings_is_told_without_serving() {
    let settings = r#"
state_key: "${file:secrets/short}"
tls: { cert: gone.pem, key: gone.pem }
telemetry: { listen: nowhere }
access:
  policy: { rego: [gone.rego] }
  tenants: { a: { rate: 7/fortnight } }
"#;
    let folder = Folder::new(settings, "http://127.0.0.1:9");
    folder.write("secrets/short", "short");
    let named = Named { config: Some(folder.path("rest-mcp.yaml").to_str().unwrap().to_owned()), ..Named::default() };
    let (setup, report) = Setup::read(&named).await;
    let Some(setup) = setup else {
        // The rate is refused when the settings are read.
        assert!(report.render(false).contains("rate"), "{}", report.render(false));
        return;
    };
    let (inputs, _) = setup.inputs().await;
    let loaded = load_all(&inputs, setup.environment.as_ref()).await;
    let problems = settings_problems(&setup, &loaded.catalog).join("\n");
    for key in ["state_key", "tls.cert", "telemetry.listen", "access.policy.rego", "access.tenants.a.rate"] {
        assert!(problems.contains(key), "{key}: {problems}");
    }
    assert!(!problems.contains("short\n"));
}

#[tokio::test]
async fn transports_are_where_the_settings_put_them() {
    let api = echo().await;
    let world = start("transports: { streamable_http: /deep/mcp, sse: /events }\n", &api.url).await;
    let other = |path: &str| world.http.post(format!("{}{path}", world.url));
    let body = modern("tools/list", json!({})).to_string();
    let asked = other("/deep/mcp").header("content-type", "application/json").header("accept", "application/json");
    let asked = asked.header("mcp-protocol-version", super::REVISION).header("mcp-method", "tools/list");
    assert_eq!(asked.body(body).send().await.unwrap().status(), 200);
    assert_eq!(world.post(&[], &modern("tools/list", json!({}))).await.status, 404);
    assert_eq!(world.http.get(format!("{}/events", world.url)).send().await.unwrap().status(), 200);
    assert_eq!(world.http.get(format!("{}/ws", world.url)).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn too_many_requests_at_once_are_told_to_come_again() {
    let (entered, gate) =
        (std::sync::Arc::new(tokio::sync::Notify::new()), std::sync::Arc::new(tokio::sync::Notify::new()));
    let (said, held) = (entered.clone(), gate.clone());
    let router = axum::Router::new().fallback(move || {
        let (said, held) = (said.clone(), held.clone());
        async move {
            said.notify_one();
            held.notified().await;
            "ok"
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let world = std::sync::Arc::new(start("limits: { in_flight: 1 }\n", &url).await);
    let first = tokio::spawn({
        let world = world.clone();
        async move { world.call(&[], "getPet", json!({"id": "7"})).await.status }
    });
    entered.notified().await;
    assert_eq!(world.call(&[], "getPet", json!({"id": "7"})).await.status, 503);
    assert_eq!(world.get("/healthz", &[]).await.0, 200);
    gate.notify_one();
    assert_eq!(first.await.unwrap(), 200);
    gate.notify_one();
    assert_eq!(world.call(&[], "getPet", json!({"id": "7"})).await.status, 200);
}

#[tokio::test]
async fn mutual_tls_names_the_caller_and_new_certificates_come_into_force() {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    let api = echo().await;
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let issue = |name: &str, organization: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::OrganizationName, organization);
        params.distinguished_name.push(DnType::CommonName, name);
        (params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem())
    };
    let settings = "tls: { cert: tls.crt, key: tls.key, client_ca: ca.pem }\naudit: { to: audit.jsonl }\naccess: { mtls: { tenant: organization }, tenants: { acme: { allow: [getPet] } } }\n";
    let folder = Folder::new(settings, &api.url);
    let (cert, key) = issue("localhost", "server");
    folder.write("tls.crt", &cert);
    folder.write("tls.key", &key);
    folder.write("ca.pem", &authority_pem);
    let world = run(folder, STILL).await;
    let url = world.url.replace("http://127.0.0.1", "https://localhost");
    let client = |identity: Option<(String, String)>| {
        let root = reqwest::Certificate::from_pem(authority_pem.as_bytes()).unwrap();
        let mut builder = reqwest::Client::builder().tls_certs_only([root]);
        if let Some((cert, key)) = identity {
            builder = builder.identity(reqwest::Identity::from_pem(format!("{cert}{key}").as_bytes()).unwrap());
        }
        builder.build().unwrap()
    };
    let robot = client(Some(issue("robot", "acme")));
    let list = modern("tools/list", json!({}));
    let reply = super::post(&robot, &url, &[], &list).await;
    assert_eq!(reply.body["result"]["tools"][0]["name"], "getPet", "{reply:?}");
    assert_eq!(reply.body["result"]["tools"].as_array().unwrap().len(), 1);
    assert!(client(None).post(format!("{url}/mcp")).send().await.is_err(), "no certificate, no connection");
    // A new certificate of another key; a broken one changes nothing.
    let (cert, key) = issue("localhost", "server");
    world.folder.write("tls.crt", "no certificate");
    assert!(!world.reload().await);
    assert_eq!(super::post(&client(Some(issue("robot", "acme"))), &url, &[], &list).await.status, 200);
    world.folder.write("tls.crt", &cert);
    world.folder.write("tls.key", &key);
    assert!(world.reload().await);
    assert_eq!(super::post(&client(Some(issue("robot", "acme"))), &url, &[], &list).await.status, 200);
    let audit = world.audit().await;
    assert!(audit.iter().all(|line| line["subject"] == "robot" && line["tenant"] == "acme"), "{audit:?}");
}

#[tokio::test]
async fn what_clients_may_cost_is_what_the_settings_say() {
    let settings = "limits: { max_body: 2KiB, max_frame: 3KiB, connections: 4, stall: 5s, in_flight: 6 }\n";
    let folder = Folder::new(settings, "http://127.0.0.1:9");
    let transport = folder.sidecar().await.transport();
    assert_eq!(
        (transport.max_body, transport.max_frame, transport.max_connections, transport.max_requests),
        (2048, 3072, 4, 6)
    );
    assert_eq!(transport.stall_timeout, std::time::Duration::from_secs(5));
}

#[tokio::test]
async fn tasks_are_as_many_as_the_settings_say() {
    const TASKS: &str = "io.modelcontextprotocol/tasks";
    for (settings, offered) in
        [("", true), ("tasks: { max: 0 }\n", false), ("legacy_sessions: { enabled: false }\n", false)]
    {
        let folder = Folder::new(settings, "http://127.0.0.1:9");
        folder.write(
            "mapping.yaml",
            &format!("{MAPPING}tools: {{ addPet: {{ poll: {{ location: header location }} }} }}\n"),
        );
        let sidecar = folder.sidecar().await;
        assert_eq!(sidecar.server().settings().task_retention, std::time::Duration::from_secs(600));
        let world = run(folder, STILL).await;
        let found = world.post(&[], &modern("server/discover", json!({}))).await;
        let extensions = &found.body["result"]["capabilities"]["extensions"];
        assert_eq!(extensions.get(TASKS).is_some(), offered, "{settings}: {found:?}");
    }
    let folder = Folder::new("tasks: { max: 7, retention: 9s }\n", "http://127.0.0.1:9");
    let server = folder.sidecar().await.server();
    assert_eq!((server.settings().max_tasks, server.settings().task_retention.as_secs()), (7, 9));
}
