//! Which certificates are trusted: those that come with the program, or those of `SSL_CERT_FILE`.

use crate::FetchError;
use std::fs;
use std::path::Path;
use ureq::tls::{PemItem, RootCerts, parse_pem};

/// The variable that names a file of certificates, as other programs understand it. Networks that
/// open encrypted connections need it.
const VARIABLE: &str = "SSL_CERT_FILE";

/// The certificates to trust.
pub(crate) fn roots() -> Result<RootCerts, FetchError> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => from_file(Path::new(&path)),
        None => Ok(RootCerts::WebPki),
    }
}

fn from_file(path: &Path) -> Result<RootCerts, FetchError> {
    let wrong = |problem: String| FetchError::Certificates { path: path.to_owned(), problem };
    let text = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(found) = item.map_err(|error| wrong(error.to_string()))? {
            certificates.push(found);
        }
    }
    if certificates.is_empty() {
        return Err(wrong("there is no certificate in it (PEM)".into()));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roots.pem");
        let problem = || from_file(&path).err().unwrap().to_string();
        assert!(problem().contains("roots.pem"), "{}", problem());
        fs::write(&path, "nothing").unwrap();
        assert!(problem().contains("no certificate"), "{}", problem());
        let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        fs::write(&path, certificate.repeat(2)).unwrap();
        assert!(matches!(from_file(&path), Ok(RootCerts::Specific(all)) if all.len() == 2));
    }
}
