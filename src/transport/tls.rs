//! TLS of the server: certificate, key and client CA from PEM files, read again on reload; a bad new
//! set leaves the old one in force.

use super::{Boxed, Certificate, Duplex, Handshake};
use arc_swap::ArcSwap;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// The files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// PEM file: the server's certificate, then its intermediates.
    pub cert: PathBuf,
    /// PEM file: the private key.
    pub key: PathBuf,
    /// PEM file: CAs of client certificates; present = mutual TLS.
    pub client_ca: Option<PathBuf>,
    /// Clients without a certificate may connect (and must then be recognised otherwise).
    pub client_optional: bool,
}

/// The server's TLS configuration.
#[derive(Debug)]
pub struct ServerTls {
    files: TlsFiles,
    current: ArcSwap<ServerConfig>,
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// Every problem as one text with the key and the path.
    pub fn load(files: TlsFiles) -> Result<ServerTls, Vec<String>> {
        let current = ArcSwap::from_pointee(read(&files)?);
        Ok(ServerTls { files, current })
    }

    /// Reads the files again; new connections get the new certificate.
    ///
    /// # Errors
    /// As [`ServerTls::load`]; the old configuration stays in force.
    pub fn reload(&self) -> Result<(), Vec<String>> {
        self.current.store(Arc::new(read(&self.files)?));
        Ok(())
    }

    /// The configuration for one new connection (ALPN: HTTP/2, HTTP/1.1).
    pub fn config(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }

    /// The files to watch.
    pub fn watched(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.files.cert), Some(&self.files.key), self.files.client_ca.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }
}

impl Handshake for ServerTls {
    fn accept(&self, socket: TcpStream) -> Boxed<'static, io::Result<(Box<dyn Duplex>, Option<Certificate>)>> {
        let accepting = TlsAcceptor::from(self.config()).accept(socket);
        Box::pin(async move {
            let stream = accepting.await?;
            let (_, connection) = stream.get_ref();
            let certificate = connection.peer_certificates().and_then(<[_]>::first).map(|one| one.clone().into_owned());
            Ok((Box::new(stream) as Box<dyn Duplex>, certificate))
        })
    }
}

fn read(files: &TlsFiles) -> Result<ServerConfig, Vec<String>> {
    let mut problems = Vec::new();
    let chain = certificates("tls.cert", &files.cert, &mut problems);
    let key = match PrivateKeyDer::from_pem_file(&files.key) {
        Ok(key) => Some(key),
        Err(_) => {
            problems.push(format!("tls.key: no PEM private key can be read from `{}`", files.key.display()));
            None
        }
    };
    let authorities = files.client_ca.as_ref().map(|path| certificates("tls.client_ca", path, &mut problems));
    let Some(key) = key.filter(|_| problems.is_empty()) else { return Err(problems) };
    let provider = Arc::new(ring::default_provider());
    let wrong = |what: &str, error: &dyn std::fmt::Display| vec![format!("{what}: {error}")];
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("tls", &error))?;
    let builder = match authorities {
        None => builder.with_no_client_auth(),
        Some(authorities) => {
            let mut roots = RootCertStore::empty();
            for authority in authorities {
                roots.add(authority).map_err(|error| wrong("tls.client_ca", &error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = if files.client_optional { verifier.allow_unauthenticated() } else { verifier };
            builder.with_client_cert_verifier(verifier.build().map_err(|error| wrong("tls.client_ca", &error))?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| wrong("tls.cert, tls.key", &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(key: &str, path: &Path, problems: &mut Vec<String>) -> Vec<CertificateDer<'static>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match found {
        Ok(found) if !found.is_empty() => found,
        _ => {
            problems.push(format!("{key}: no PEM certificate can be read from `{}`", path.display()));
            Vec::new()
        }
    }
}
