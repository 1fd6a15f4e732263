//! The few parts of a client certificate (RFC 5280) that say who it is. Whether it is genuine has
//! been checked by TLS before; this only reads.

/// Who a client certificate names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientCertificate {
    /// Subject attributes in order: short name (`CN`, `O`, `OU`, …; else the object identifier's
    /// bytes in hexadecimal) and value.
    pub subject: Vec<(String, String)>,
    /// `URI` entries of the subject's alternative names, such as SPIFFE ids.
    pub uris: Vec<String>,
    /// `DNS` entries of the subject's alternative names.
    pub dns_names: Vec<String>,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];

impl ClientCertificate {
    /// Reads a certificate; `None` if it is not DER of the expected form.
    pub fn from_der(der: &[u8]) -> Option<ClientCertificate> {
        let mut certificate = Der(der).enter(SEQUENCE)?;
        let mut body = certificate.enter(SEQUENCE)?;
        // version [0], serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo
        body.skip_if(0xa0);
        for _ in 0..4 {
            body.next()?;
        }
        let mut names = body.enter(SEQUENCE)?;
        let mut read = ClientCertificate::default();
        while let Some(mut set) = names.enter(SET) {
            while let Some(mut pair) = set.enter(SEQUENCE) {
                let (tag, kind) = pair.next()?;
                let (_, value) = pair.next()?;
                if tag == OBJECT_IDENTIFIER {
                    read.subject.push((short_name(kind), String::from_utf8_lossy(value).into_owned()));
                }
            }
        }
        body.next()?;
        while let Some((tag, content)) = body.next() {
            if tag == 0xa3 {
                read.read_extensions(content);
            }
        }
        Some(read)
    }

    fn read_extensions(&mut self, content: &[u8]) -> Option<()> {
        let mut list = Der(content).enter(SEQUENCE)?;
        while let Some(mut extension) = list.enter(SEQUENCE) {
            let (_, kind) = extension.next()?;
            if kind != SUBJECT_ALT_NAME {
                continue;
            }
            while let Some((tag, value)) = extension.next() {
                if tag != OCTET_STRING {
                    continue;
                }
                let mut names = Der(value).enter(SEQUENCE)?;
                while let Some((tag, name)) = names.next() {
                    let name = String::from_utf8_lossy(name).into_owned();
                    match tag {
                        0x86 => self.uris.push(name),
                        0x82 => self.dns_names.push(name),
                        _ => {}
                    }
                }
            }
        }
        Some(())
    }

    /// The first subject attribute of that short name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut of_name = self.subject.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        of_name.next().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// What to call its owner: a URI name, else the common name, else a DNS name, else the whole
    /// subject.
    pub fn name(&self) -> String {
        let short = self.uris.first().map(String::as_str).or_else(|| self.attribute("CN"));
        match short.or(self.dns_names.first().map(String::as_str)) {
            Some(name) => name.to_owned(),
            None => {
                let parts: Vec<String> = self.subject.iter().map(|(key, value)| format!("{key}={value}")).collect();
                parts.join(",")
            }
        }
    }
}

/// RFC 4514 §3.
fn short_name(oid: &[u8]) -> String {
    let name = match oid {
        [0x55, 0x04, 0x03] => "CN",
        [0x55, 0x04, 0x05] => "serialNumber",
        [0x55, 0x04, 0x06] => "C",
        [0x55, 0x04, 0x07] => "L",
        [0x55, 0x04, 0x08] => "ST",
        [0x55, 0x04, 0x0a] => "O",
        [0x55, 0x04, 0x0b] => "OU",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01] => "UID",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19] => "DC",
        _ => return oid.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    name.to_owned()
}

/// A run of DER values (X.690); anything unexpected ends it.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0usize, |length, digit| length << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    fn enter(&mut self, wanted: u8) -> Option<Der<'a>> {
        let before = self.0;
        match self.next() {
            Some((tag, content)) if tag == wanted => Some(Der(content)),
            _ => {
                self.0 = before;
                None
            }
        }
    }

    fn skip_if(&mut self, tag: u8) {
        let _ = self.enter(tag);
    }
}
