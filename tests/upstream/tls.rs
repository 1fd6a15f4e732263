//! TLS towards the API: private CA, wrong host, expired, client certificate.

use super::server::*;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rest_mcp::catalog::SourcePlan;
use rest_mcp::mapping::{Limits, Tls};
use rest_mcp::response::NoAnswer;
use rest_mcp::upstream::Upstream;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, folder }
    }

    /// Certificate and key for a name, in PEM.
    fn issue(&self, name: &str, expired: bool) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if expired {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn plan(&self, url: &str) -> SourcePlan {
        let tls = Tls { ca: Some(self.path("ca.pem")), ..Tls::default() };
        SourcePlan { tls, ..plan(url, Limits { retries: 0, ..limits() }) }
    }
}

/// An HTTPS server that says who connected.
pub async fn serve_tls(authority: &Authority, name: &str, expired: bool, ask_client: bool) -> String {
    let (certificate, key) = authority.issue(name, expired);
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        rustls::ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = if ask_client {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(authority.issuer.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(socket).await else { return };
                let known = stream.get_ref().1.peer_certificates().is_some();
                let mut part = [0; 2048];
                while stream.read(&mut part).await.is_ok_and(|count| count > 0) {
                    let body = if known { "certificate" } else { "anonymous" };
                    if stream.write_all(&answer("200 OK", "", body)).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("https://localhost:{port}")
}

fn make(plan: SourcePlan) -> Upstream {
    Upstream::new(&[Arc::new(plan)]).unwrap()
}

#[tokio::test]
async fn a_private_ca_is_trusted_where_configured() {
    let authority = Authority::new();
    let url = serve_tls(&authority, "localhost", false, false).await;
    let got = make(authority.plan(&url)).send(0, get(&url), &idempotent()).await.unwrap();
    assert_eq!(&got.body[..], b"anonymous");
}

#[tokio::test]
async fn bad_certificates_are_told_as_tls_and_insecure_accepts_them() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let wrong_host = serve_tls(&authority, "elsewhere.test", false, false).await;
    let expired = serve_tls(&authority, "localhost", true, false).await;
    let unknown = serve_tls(&stranger, "localhost", false, false).await;
    for (what, url) in [("wrong host", &wrong_host), ("expired", &expired), ("unknown issuer", &unknown)] {
        let error = make(authority.plan(url)).send(0, get(url), &idempotent()).await.unwrap_err();
        assert!(matches!(error, NoAnswer::Tls(_)), "{what}: {error:?}");
        let mut insecure = authority.plan(url);
        insecure.tls.insecure = true;
        assert!(make(insecure).send(0, get(url), &idempotent()).await.is_ok(), "{what}");
    }
}

#[tokio::test]
async fn plain_http_where_tls_is_expected_is_told_as_tls() {
    let authority = Authority::new();
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let url = server.url.replace("http://127.0.0.1", "https://localhost");
    let plan = authority.plan(&url);
    // The server of bytes waits for the end of a head that never comes: it is the time limit that ends it,
    // unless the peer says something that is no TLS.
    let options =
        rest_mcp::upstream::SendOptions { timeout: Some(std::time::Duration::from_millis(50)), ..idempotent() };
    let error = make(plan).send(0, get(&url), &options).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Tls(_) | NoAnswer::Timeout(..)), "{error:?}");
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_configured() {
    let authority = Authority::new();
    let url = serve_tls(&authority, "localhost", false, true).await;
    let error = make(authority.plan(&url)).send(0, get(&url), &idempotent()).await.unwrap_err();
    assert!(matches!(error, NoAnswer::Tls(_)), "{error:?}");
    let (certificate, key) = authority.issue("rest-mcp.test", false);
    std::fs::write(authority.path("cert.pem"), certificate).unwrap();
    std::fs::write(authority.path("key.pem"), key).unwrap();
    let mut plan = authority.plan(&url);
    plan.tls.cert = Some(authority.path("cert.pem"));
    plan.tls.key = Some(authority.path("key.pem"));
    let got = make(plan).send(0, get(&url), &idempotent()).await.unwrap();
    assert_eq!(&got.body[..], b"certificate");
}

#[tokio::test]
async fn http_2_is_spoken_where_the_api_offers_it() {
    use http_body_util::{BodyExt, Full};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let authority = Authority::new();
    let (certificate, key) = authority.issue("localhost", false);
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let stream = acceptor.accept(socket).await.unwrap();
            let service = hyper::service::service_fn(|request: hyper::Request<hyper::body::Incoming>| async move {
                let version = format!("{:?} ", request.version());
                let sent = request.into_body().collect().await?.to_bytes();
                Ok::<_, hyper::Error>(hyper::Response::new(Full::<bytes::Bytes>::from(
                    [version.as_bytes(), &sent].concat(),
                )))
            });
            let serving = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { drop(serving.serve_connection(TokioIo::new(stream), service).await) });
        }
    });
    let upstream = make(authority.plan(&url));
    let mut post = request(http::Method::POST, &url);
    post.body = Some("payload".into());
    for _ in 0..2 {
        let got = upstream.send(0, post.clone(), &rest_mcp::upstream::SendOptions::default()).await.unwrap();
        assert_eq!(&got.body[..], b"HTTP/2.0 payload");
    }
}
