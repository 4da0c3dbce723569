//! The command line.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: lab-host --testbed TESTBED.toml --app APP.jar[:MORE.jar] \
--main some/Class [--hidden-api] [--sdk N] [--process-name NAME] [-D key=value]... [-X vm-option]... \
[-- ARGUMENT...]";

/// What to boot and run.
#[derive(Debug, Default)]
pub(crate) struct Args {
    /// The testbed's description.
    pub(crate) testbed: PathBuf,
    /// Class path of the app: dexed jars.
    pub(crate) app: String,
    /// The class whose `main(String[])` runs, with slashes.
    pub(crate) main: String,
    /// Enforce hidden-API restrictions, as a device does.
    pub(crate) hidden_api: bool,
    /// Target SDK of the app and `Build.VERSION.SDK_INT`; the testbed's level when absent.
    pub(crate) sdk: Option<u32>,
    /// The name that the process gets, as the system names an app's process.
    pub(crate) process_name: Option<String>,
    /// System properties, `key=value`.
    pub(crate) properties: Vec<String>,
    /// Further VM options, passed on unchanged.
    pub(crate) vm_options: Vec<String>,
    /// Arguments of `main`.
    pub(crate) rest: Vec<String>,
}

impl Args {
    /// Reads `argv` without the program's name.
    pub(crate) fn parse(mut argv: impl Iterator<Item = String>) -> Result<Self> {
        let mut args = Self::default();
        while let Some(arg) = argv.next() {
            let mut value = || argv.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--testbed" => args.testbed = value()?.into(),
                "--app" => args.app = value()?,
                "--main" => args.main = value()?.replace('.', "/"),
                "--hidden-api" => args.hidden_api = true,
                "--sdk" => args.sdk = Some(value()?.parse().context("--sdk needs a number")?),
                "--process-name" => args.process_name = Some(value()?),
                "-D" => args.properties.push(value()?),
                "-X" => args.vm_options.push(value()?),
                "--" => {
                    args.rest = argv.collect();
                    break;
                }
                other => bail!("unknown argument {other}"),
            }
        }
        for (name, missing) in [
            ("--testbed", args.testbed.as_os_str().is_empty()),
            ("--app", args.app.is_empty()),
            ("--main", args.main.is_empty()),
        ] {
            if missing {
                bail!("{name} is missing");
            }
        }
        Ok(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args> {
        Args::parse(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn reads_every_option_and_leaves_the_rest_to_main() {
        let args = parse(
            "--testbed b.toml --app a.jar:b.jar --main s.Demo --hidden-api --sdk 30 --process-name com.a \
             -D a=b -X -Xmx9m -- -D x",
        )
        .unwrap();
        assert_eq!((args.app.as_str(), args.main.as_str(), args.sdk), ("a.jar:b.jar", "s/Demo", Some(30)));
        assert!(args.hidden_api);
        assert_eq!(args.process_name.as_deref(), Some("com.a"));
        assert_eq!((args.properties, args.vm_options), (vec!["a=b".to_owned()], vec!["-Xmx9m".to_owned()]));
        assert_eq!(args.rest, ["-D", "x"]);
    }

    #[test]
    fn says_what_is_missing_or_wrong() {
        let message = |line: &str| parse(line).unwrap_err().to_string();
        assert_eq!(message("--testbed b --app a"), "--main is missing");
        assert_eq!(message("--testbed b --sdk"), "--sdk needs a value");
        assert_eq!(message("--fast"), "unknown argument --fast");
    }
}
