//! Client certificates, and the server's own.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rest_mcp::transport::Handshake;
use rest_mcp::transport::identity::certificate::ClientCertificate;
use rest_mcp::transport::tls::{ServerTls, TlsFiles};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

fn params(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec!["client.test".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::OrganizationName, "Acme, Inc.");
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

#[test]
fn subject_and_alternative_names_are_read() {
    let key = KeyPair::generate().unwrap();
    let der = params("robot").self_signed(&key).unwrap();
    let read = ClientCertificate::from_der(der.der()).unwrap();
    assert_eq!((read.attribute("CN"), read.attribute("o")), (Some("robot"), Some("Acme, Inc.")));
    assert_eq!((read.attribute("OU"), read.name().as_str()), (None, "robot"));
    assert_eq!(read.dns_names, ["client.test"]);
    let mut with_uri = params("robot");
    with_uri.subject_alt_names.push(SanType::URI("spiffe://acme/robot".try_into().unwrap()));
    let der = with_uri.self_signed(&key).unwrap();
    assert_eq!(ClientCertificate::from_der(der.der()).unwrap().name(), "spiffe://acme/robot");
}

#[test]
fn nothing_that_is_cut_or_bent_panics() {
    let key = KeyPair::generate().unwrap();
    let der = params("robot").self_signed(&key).unwrap().der().to_vec();
    for end in 0..der.len() {
        let _ = ClientCertificate::from_der(&der[..end]);
    }
    for at in 0..der.len() {
        let mut bent = der.clone();
        bent[at] = bent[at].wrapping_add(0x7f);
        let _ = ClientCertificate::from_der(&bent);
    }
    assert!(ClientCertificate::from_der(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]).is_none());
}

struct Files {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Files {
    fn new() -> Files {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let files = Files { folder: tempfile::tempdir().unwrap(), issuer };
        std::fs::write(files.path("ca.pem"), files.issuer.pem()).unwrap();
        files.write("localhost");
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A new server certificate for a name.
    fn write(&self, name: &str) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(self.path("key.pem"), key.serialize_pem()).unwrap();
    }

    fn tls(&self, mutual: bool) -> TlsFiles {
        TlsFiles {
            cert: self.path("cert.pem"),
            key: self.path("key.pem"),
            client_ca: mutual.then(|| self.path("ca.pem")),
            client_optional: false,
        }
    }

    /// Connects as a client; gives what the server read of the client's certificate.
    async fn connect(&self, server: &ServerTls, with_certificate: bool) -> Option<Option<ClientCertificate>> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut client = if with_certificate {
            let key = KeyPair::generate().unwrap();
            let certificate = params("robot").signed_by(&key, &self.issuer).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![CertificateDer::from(certificate.der().to_vec())], key).unwrap()
        } else {
            builder.with_no_client_auth()
        };
        client.alpn_protocols = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
        let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
        let name = ServerName::try_from("localhost").unwrap();
        let (client, server) = tokio::join!(connector.connect(name, near), server.accept(far));
        let (client, (_stream, certificate)) = (client.ok()?, server.ok()?);
        assert_eq!(client.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        Some(certificate.and_then(|der| ClientCertificate::from_der(&der)))
    }
}

#[tokio::test]
async fn mutual_tls_lets_in_only_certificates_of_the_ca() {
    let files = Files::new();
    let plain = ServerTls::load(files.tls(false)).unwrap();
    assert_eq!(files.connect(&plain, false).await.unwrap(), None);
    let mutual = ServerTls::load(files.tls(true)).unwrap();
    let certificate = files.connect(&mutual, true).await.unwrap();
    assert_eq!(certificate.unwrap().name(), "robot");
    assert!(files.connect(&mutual, false).await.is_none());
    let stranger = Files::new();
    std::fs::copy(files.path("cert.pem"), stranger.path("cert.pem")).unwrap();
    std::fs::copy(files.path("key.pem"), stranger.path("key.pem")).unwrap();
    let other_ca = ServerTls::load(stranger.tls(true)).unwrap();
    assert!(files.connect(&other_ca, true).await.is_none());
}

#[tokio::test]
async fn a_reload_takes_the_new_certificate_and_a_bad_one_leaves_the_old() {
    let files = Files::new();
    let server = ServerTls::load(files.tls(false)).unwrap();
    std::fs::write(files.path("key.pem"), "nonsense").unwrap();
    assert_eq!(server.reload().unwrap_err().len(), 1);
    assert!(files.connect(&server, false).await.is_some());
    files.write("elsewhere.test");
    server.reload().unwrap();
    assert!(files.connect(&server, false).await.is_none());
    files.write("localhost");
    server.reload().unwrap();
    assert!(files.connect(&server, false).await.is_some());
    assert_eq!(server.watched().count(), 2);
}

#[test]
fn every_bad_file_is_told() {
    let files = TlsFiles {
        cert: "/nonexistent/cert.pem".into(),
        key: "/nonexistent/key.pem".into(),
        client_ca: Some("/nonexistent/ca.pem".into()),
        client_optional: false,
    };
    assert_eq!(ServerTls::load(files).unwrap_err().len(), 3);
}
