//! Signatures by GnuPG, with a key that comes from the environment and is in no file of this machine
//! afterwards.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use loopbox_setup::command::{Outcome, outcome, run};
use tempfile::TempDir;

use crate::checksums::with_ending;

/// The variable with the secret key, in ASCII armor.
pub const KEY: &str = "LOOPBOX_SIGNING_KEY";
/// The variable with the key's passphrase; not set when the key has none.
pub const PASSPHRASE: &str = "LOOPBOX_SIGNING_PASSPHRASE";

/// The file name extension of a signature.
pub(crate) const SIGNATURE: &str = "asc";

/// A keyring in a folder that only this user can read. The folder is removed when this value is dropped.
struct Keyring(TempDir);

impl Keyring {
    fn new() -> Result<Self> {
        // Not in the folder of the release, and with a short path: the agent makes sockets in it.
        let home = tempfile::Builder::new().prefix("gpg").tempdir().context("no folder for a keyring")?;
        Ok(Self(home))
    }

    fn gpg(&self) -> Command {
        let mut gpg = Command::new("gpg");
        gpg.arg("--homedir").arg(self.0.path()).args(["--batch", "--no-tty", "--quiet", "--yes"]);
        gpg
    }

    /// Runs GnuPG with an input that must not be visible in the list of processes.
    fn with_input(&self, arguments: &[&str], input: &str) -> Result<Outcome> {
        let mut gpg = self.gpg();
        gpg.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = gpg.spawn().context("cannot run gpg")?;
        // It may end before it has read everything; its words say why.
        let _ = child.stdin.take().context("gpg takes no input")?.write_all(input.as_bytes());
        let output = child.wait_with_output().context("cannot wait for gpg")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (text, errors) = (text(&output.stdout), text(&output.stderr));
        Ok(Outcome { program: "gpg".into(), status: output.status, text, errors })
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        let _ = Command::new("gpgconf").arg("--homedir").arg(self.0.path()).args(["--kill", "all"]).status();
    }
}

/// Signs files.
pub struct Signer {
    keyring: Keyring,
    passphrase: String,
}

impl Signer {
    /// A signer with the key from the environment; `None` where there is no key.
    ///
    /// # Errors
    /// When GnuPG is not there or does not take the key.
    pub fn from_environment() -> Result<Option<Self>> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        set(KEY).map(|key| Self::new(&key, &set(PASSPHRASE).unwrap_or_default())).transpose()
    }

    /// A signer with this key.
    ///
    /// # Errors
    /// As [`Signer::from_environment`].
    pub fn new(key: &str, passphrase: &str) -> Result<Self> {
        let keyring = Keyring::new()?;
        keyring.with_input(&["--import"], key)?.into_text().with_context(|| format!("the key of {KEY}"))?;
        let listed = run(keyring.gpg().args(["--with-colons", "--list-secret-keys"]))?;
        ensure!(listed.lines().any(|line| line.starts_with("sec:")), "{KEY} has no secret key");
        Ok(Self { keyring, passphrase: passphrase.to_owned() })
    }

    /// Writes the signature of a file next to it.
    pub(crate) fn sign(&self, file: &Path) -> Result<PathBuf> {
        let signature = with_ending(file, SIGNATURE);
        let (from, to) = (file.to_string_lossy(), signature.to_string_lossy());
        let arguments = [
            "--pinentry-mode",
            "loopback",
            "--passphrase-fd",
            "0",
            "--armor",
            "--detach-sign",
            "--output",
            &to,
            &from,
        ];
        let signed = self.keyring.with_input(&arguments, &self.passphrase)?.into_text();
        signed.with_context(|| format!("cannot sign {}", file.display()))?;
        Ok(signature)
    }
}

/// Checks signatures with a public key.
pub(crate) struct Checker(Keyring);

impl Checker {
    /// A checker with the public keys in a file.
    pub(crate) fn new(keys: &Path) -> Result<Self> {
        let keyring = Keyring::new()?;
        let text = fs::read_to_string(keys).with_context(|| format!("cannot read {}", keys.display()))?;
        let imported = keyring.with_input(&["--import"], &text)?.into_text();
        imported.with_context(|| format!("the keys of {}", keys.display()))?;
        Ok(Self(keyring))
    }

    /// Checks that the signature of a file is by one of the keys.
    pub(crate) fn check(&self, file: &Path) -> Result<()> {
        let mut gpg = self.0.gpg();
        let checked = outcome(gpg.arg("--verify").arg(with_ending(file, SIGNATURE)).arg(file))?.into_text();
        checked.with_context(|| format!("the signature of {}", file.display()))?;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A key of this test alone: secret and public.
    pub(crate) fn key(passphrase: &str) -> (String, String) {
        let keyring = Keyring::new().unwrap();
        let loopback = ["--pinentry-mode", "loopback", "--passphrase-fd", "0"];
        let make = ["--quick-generate-key", "Release Test <release@example.org>", "ed25519", "sign", "1d"];
        keyring.with_input(&[&loopback[..], &make].concat(), passphrase).unwrap().into_text().unwrap();
        let secret =
            keyring.with_input(&[&loopback[..], &["--armor", "--export-secret-keys"]].concat(), passphrase);
        let public = run(keyring.gpg().args(["--armor", "--export"])).unwrap();
        (secret.unwrap().into_text().unwrap(), public)
    }

    #[test]
    fn a_signature_is_checked_with_the_public_key_and_breaks_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, keys) = (folder.path().join("a.aar"), folder.path().join("keys"));
        fs::write(&file, "bytes").unwrap();
        let (secret, public) = key("a pass phrase");
        fs::write(&keys, public).unwrap();
        Signer::new(&secret, "a pass phrase").unwrap().sign(&file).unwrap();
        let checker = Checker::new(&keys).unwrap();
        checker.check(&file).unwrap();
        fs::write(&file, "other bytes").unwrap();
        assert!(checker.check(&file).unwrap_err().to_string().contains("a.aar"));
    }

    #[test]
    fn a_wrong_passphrase_and_no_secret_key_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.aar");
        fs::write(&file, "bytes").unwrap();
        let (secret, public) = key("right");
        let refused = Signer::new(&secret, "wrong").unwrap().sign(&file).unwrap_err();
        assert!(refused.to_string().contains("cannot sign"), "{refused:#}");
        assert!(Signer::new(&public, "").err().unwrap().to_string().contains("no secret key"));
        assert!(Signer::new("no key", "").is_err());
    }
}
