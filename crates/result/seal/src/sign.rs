//! Signatures in minisign's format (<https://jedisct1.github.io/minisign/#signature-format>).

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use minisign::{PError, PublicKey, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};

use crate::SealError;

/// A secret key that is ready to sign. It is never shown.
pub struct SigningKey(SecretKey);

impl SigningKey {
    /// Reads a secret key file. `password` is asked only for a key that has one.
    pub fn read<E: From<SealError>>(text: &str, password: impl FnOnce() -> Result<String, E>) -> Result<Self, E> {
        let key = decode(text)?;
        if !key.is_encrypted() {
            return Ok(Self(key));
        }
        // Everything else about the key was looked at before: what is left to be wrong is the password.
        let opened = SecretKeyBox::from(text.to_owned()).into_secret_key(Some(password()?));
        Ok(Self(opened.map_err(|_| SealError::Password)?))
    }

    /// The signature over this text, as the content of a `.minisig` file. `comment` is signed too, and shown by
    /// `minisign -V`; it is one line.
    pub fn sign(&self, text: &str, comment: &str) -> Result<String, SealError> {
        let untrusted = "signature from a minisign secret key";
        let sign = || {
            let public = PublicKey::from_secret_key(&self.0)?;
            let signature = minisign::sign(Some(&public), &self.0, text.as_bytes(), Some(comment), Some(untrusted))?;
            // A key without a password carries no sum that would tell of damage; a signature that does not hold does.
            minisign::verify(&public, &signature, Cursor::new(text), true, false, false)?;
            Ok(signature.into_string())
        };
        sign().map_err(|error: PError| SealError::Sign { why: error.to_string() })
    }
}

/// The key as it is in the file, still encrypted if it is. `SecretKeyBox` would refuse keys without a password that
/// minisign 0.11 made: they have zeros where it looks for a sum.
fn decode(text: &str) -> Result<SecretKey, SealError> {
    let wrong = |why: &str| SealError::SecretKey { why: why.to_owned() };
    let second = text.lines().nth(1).ok_or_else(|| wrong("it has no second line"))?;
    let bytes = BASE64_STANDARD.decode(second.trim()).map_err(|_| wrong("its second line is not Base64"))?;
    SecretKey::from_bytes(&bytes).map_err(|_| wrong("it is cut off"))
}

/// Comment of the signer in the signature, if this is one of that key over this text; the fault otherwise.
pub(crate) fn verify(text: &str, signature: &str, key: &str) -> Result<Result<String, String>, SealError> {
    let wrong = |error: PError| SealError::PublicKey { why: error.to_string() };
    let key = PublicKeyBox::from_string(key.trim()).and_then(PublicKeyBox::into_public_key).map_err(wrong)?;
    let verified = SignatureBox::from_string(signature).and_then(|signature| {
        minisign::verify(&key, &signature, Cursor::new(text), true, false, false)?;
        signature.trusted_comment()
    });
    Ok(verified.map_err(|error| error.to_string()))
}
