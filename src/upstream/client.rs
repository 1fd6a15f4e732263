//! One HTTP client a source: TLS, pool, resolver.

use super::address::Resolver;
use crate::mapping::{Limits, Tls};
use reqwest::Client;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long an idle connection is kept; also the longest that a changed DNS record goes unnoticed.
pub(super) const IDLE: Duration = Duration::from_secs(30);

/// How this product calls itself.
pub(super) const USER_AGENT: &str = concat!("rest-mcp/", env!("CARGO_PKG_VERSION"));

/// The system's CAs, read once, when the first source needs them.
fn system_roots() -> &'static RootCertStore {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    })
}

/// The TLS files of a source, read.
pub(super) struct TlsFiles {
    ca: Vec<CertificateDer<'static>>,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    /// Changes where a file's contents changed.
    pub(super) fingerprint: [u8; 32],
}

impl TlsFiles {
    /// Reads the files that `tls` names; every problem is one text, naming the key and the path.
    pub(super) fn read(tls: &Tls) -> Result<TlsFiles, Vec<String>> {
        let mut problems = Vec::new();
        let mut hash = Sha256::new();
        let mut read = |key: &str, path: &str| match std::fs::read(path) {
            Ok(bytes) => {
                hash.update(&bytes);
                Some(bytes)
            }
            Err(error) => {
                problems.push(format!("tls.{key}: can't read `{path}`: {error}"));
                None
            }
        };
        let ca = tls.ca.as_deref().map(|path| (path, read("ca", path)));
        let cert = tls.cert.as_deref().map(|path| (path, read("cert", path)));
        let key = tls.key.as_deref().map(|path| (path, read("key", path)));
        let fingerprint = hash.finalize().into();
        let mut certificates = |key: &str, path: &str, bytes: &[u8]| {
            let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
            match found {
                Ok(found) if !found.is_empty() => found,
                _ => {
                    problems.push(format!("tls.{key}: `{path}` holds no PEM certificate"));
                    Vec::new()
                }
            }
        };
        let ca = match &ca {
            Some((path, Some(bytes))) => certificates("ca", path, bytes),
            _ => Vec::new(),
        };
        let chain = match &cert {
            Some((path, Some(bytes))) => certificates("cert", path, bytes),
            _ => Vec::new(),
        };
        let key = match &key {
            Some((path, Some(bytes))) => match PrivateKeyDer::from_pem_slice(bytes) {
                Ok(key) => Some(key),
                Err(_) => {
                    problems.push(format!("tls.key: `{path}` holds no PEM private key"));
                    None
                }
            },
            _ => None,
        };
        if tls.cert.is_some() != tls.key.is_some() {
            problems.push("tls.cert and tls.key belong together: one of them is missing".to_owned());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let identity = key.map(|key| (chain, key));
        Ok(TlsFiles { ca, identity, fingerprint })
    }
}

/// The TLS configuration of a source. `tls_wanted` is false where nothing of it is HTTPS: then the
/// system's CAs need not be read.
pub(super) fn tls_config(tls: &Tls, files: TlsFiles, tls_wanted: bool) -> Result<ClientConfig, Vec<String>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| vec![format!("tls: {error}")])?;
    let builder = if tls.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        let mut roots = if tls_wanted { system_roots().clone() } else { RootCertStore::empty() };
        for certificate in files.ca {
            roots.add(certificate).map_err(|error| vec![format!("tls.ca: {error}")])?;
        }
        builder.with_root_certificates(roots)
    };
    let mut config = match files.identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            builder.with_client_auth_cert(chain, key).map_err(|error| vec![format!("tls.cert, tls.key: {error}")])?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Makes a client. Redirects, retries and the whole-call time limit are not its business.
pub(super) fn client(tls: ClientConfig, limits: &Limits, public_only: bool) -> Result<Client, String> {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .dns_resolver(Resolver { public_only })
        .connect_timeout(limits.connect_timeout.0)
        .tcp_nodelay(true)
        .tcp_keepalive(IDLE)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(limits.concurrency.max(1))
        .http2_adaptive_window(true)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .user_agent(USER_AGENT)
        .build()
        .map_err(|error| error.without_url().to_string())
}

/// `insecure: true`: any certificate will do; signatures are still checked, so that the connection
/// is at least with the holder of that certificate's key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
