//! Which addresses may be reached: the configured origin always, anything else only if it is public.
//!
//! The resolver hook hands the connector the very addresses that were checked, so a name can't point
//! elsewhere between check and connect. The hook is not called for address literals; those are
//! checked on the URL.

use hyper_util::client::legacy::connect::dns;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use url::{Host, Url};

/// An address that is not allowed; found again in the client's error chain.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is a private, loopback or reserved address", self.0)
    }
}

impl std::error::Error for Refused {}

/// True for addresses that belong to a host, a link, a private or a reserved network (RFC 6890):
/// everything that a public API can't have. Cloud metadata services are link-local.
pub fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => internal_v4(v4),
        IpAddr::V6(v6) => internal_v6(v6),
    }
}

fn internal_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    a == 0
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || (a == 100 && (64..128).contains(&b)) // RFC 6598, carrier-grade NAT
        || (a == 192 && b == 0 && c == 0) // RFC 6890, protocol assignments
        || (a == 198 && (b == 18 || b == 19)) // RFC 2544, benchmarks
        || address.is_documentation()
        || a >= 224 // multicast, reserved, broadcast
}

fn internal_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    if let Some(v4) = address.to_ipv4_mapped() {
        return internal_v4(v4);
    }
    let [.., a, b] = address.segments();
    let [a, b] = [a.to_be_bytes(), b.to_be_bytes()];
    let ([a0, a1], [b0, b1]) = (a, b);
    let embedded = Ipv4Addr::new(a0, a1, b0, b1);
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || (first & 0xfe00) == 0xfc00 // RFC 4193, unique local
        || (first & 0xffc0) == 0xfe80 // link-local
        || (first & 0xffc0) == 0xfec0 // site-local, deprecated
        || (first == 0x2001 && second == 0xdb8) // documentation
        || (first == 0x64 && second == 0xff9b && third == 1) // RFC 8215, local translation
        || (first == 0x64 && second == 0xff9b && internal_v4(embedded)) // RFC 6052, NAT64
        || (first == 0 && second == 0 && third == 0 && internal_v4(embedded)) // IPv4-compatible
        || (first == 0x2002 && internal_6to4(address)) // RFC 3056
}

fn internal_6to4(address: Ipv6Addr) -> bool {
    let [_, high, low, ..] = address.segments();
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    internal_v4(Ipv4Addr::new(a, b, c, d))
}

/// The internal address that a URL names literally, whatever its notation (`127.1`, `0x7f000001`,
/// `[::ffff:127.0.0.1]`: the URL standard's host parser has already normalised them).
pub(super) fn internal_literal(url: &Url) -> Option<IpAddr> {
    let address = match url.host()? {
        Host::Ipv4(v4) => IpAddr::V4(v4),
        Host::Ipv6(v6) => IpAddr::V6(v6),
        Host::Domain(_) => return None,
    };
    is_internal(address).then_some(address)
}

/// The system's resolver; with `public_only`, a name that has no public address is refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolver {
    pub(super) public_only: bool,
}

/// `localhost` and what lies below it.
fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Why a name has no usable address.
type Unresolved = Box<dyn std::error::Error + Send + Sync>;

impl Resolver {
    async fn addresses(self, name: &str) -> Result<std::vec::IntoIter<SocketAddr>, Unresolved> {
        let found: Vec<SocketAddr> = match tokio::net::lookup_host((name, 0)).await {
            Ok(found) => found.collect(),
            // RFC 6761 §6.3; an empty image has no file that says so.
            Err(_) if is_localhost(name) => {
                vec![(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]
            }
            Err(error) => return Err(error.into()),
        };
        if !self.public_only {
            return Ok(found.into_iter());
        }
        let (internal, public): (Vec<SocketAddr>, Vec<SocketAddr>) =
            found.into_iter().partition(|address| is_internal(address.ip()));
        match (public.is_empty(), internal.is_empty()) {
            (true, false) => Err(Refused(name.to_owned()).into()),
            _ => Ok(public.into_iter()),
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = *self;
        Box::pin(async move { Ok(Box::new(resolver.addresses(name.as_str()).await?) as Addrs) })
    }
}

impl tower::Service<dns::Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Unresolved;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Unresolved>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unresolved>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: dns::Name) -> Self::Future {
        let resolver = *self;
        Box::pin(async move { resolver.addresses(name.as_str()).await })
    }
}
