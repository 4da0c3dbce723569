//! A testbed with more of the platform than other tests need. Class files of API 29 come before the testbed's
//! own framework on the boot class path, for SDKs that ask for Android's `Context`, preferences and network.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use lab_launch::derive;
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::files::sha256_file;
use loopbox_setup::jar;
use loopbox_setup::r8::R8;
use loopbox_setup::workspace::target;
use loopbox_testbed::{Testbed, level_classes};

/// The level of the testbeds' own framework.
const API: u32 = 29;

/// The classes of API 29 that are added to the testbed, each with its nested classes. They may refer to
/// classes that the testbed does not have. This does no harm as long as code that uses such a class does not
/// run.
const CLASSES: [&str; 36] = [
    "android/app/Activity",
    "android/app/Application",
    "android/content/BroadcastReceiver",
    "android/content/ComponentCallbacks",
    "android/content/ComponentCallbacks2",
    "android/content/ComponentName",
    "android/content/ContentInterface",
    "android/content/ContentProvider",
    "android/content/ContentResolver",
    "android/content/Context",
    "android/content/ContextWrapper",
    "android/content/IContentProvider",
    "android/content/Intent",
    "android/content/IntentFilter",
    "android/content/SharedPreferences",
    "android/content/pm/ActivityInfo",
    "android/content/pm/ApplicationInfo",
    "android/content/pm/ComponentInfo",
    "android/content/pm/PackageInfo",
    "android/content/pm/PackageItemInfo",
    "android/content/pm/PackageManager",
    "android/content/pm/ProviderInfo",
    "android/location/LocationManager",
    "android/net/ConnectivityManager",
    "android/net/Uri",
    "android/net/ssl/SSLSockets",
    "android/os/BaseBundle",
    "android/os/Build",
    "android/os/Bundle",
    "android/os/storage/StorageManager",
    "android/preference/PreferenceManager",
    "android/provider/Settings",
    "android/security/NetworkSecurityPolicy",
    "android/text/TextUtils",
    "android/util/JsonReader",
    "android/view/ContextThemeWrapper",
];

/// Types that the classes in [`CLASSES`] extend or implement, most of them nested. Of a nested type only the
/// type itself is added to the testbed, because the testbed has the outer class already.
const INSIDE: [&str; 8] = [
    "android/provider/BaseColumns",
    "android/view/LayoutInflater$Factory",
    "android/view/LayoutInflater$Factory2",
    "android/view/View$OnCreateContextMenuListener",
    "android/view/Window$OnWindowDismissedCallback",
    "android/view/Window$WindowControllerCallback",
    "android/view/autofill/AutofillManager$AutofillClient",
    "android/view/contentcapture/ContentCaptureManager$ContentCaptureClient",
];

/// The content of `security.properties`: Java's list of security providers, with the providers of libcore.
/// A device also lists those of Conscrypt. Without such a list, `SecureRandom` fails.
const SECURITY: &str = "security.provider.1=sun.security.provider.CertPathProvider\n";

/// A testbed with the classes of [`CLASSES`] and [`INSIDE`].
#[derive(Debug)]
pub(super) struct Phone {
    pub(super) testbed: Testbed,
    /// The class files, to compile against.
    pub(super) classes: PathBuf,
}

impl Phone {
    pub(super) fn ensure(testbed: &Testbed) -> Result<Self> {
        let kept = level_classes(API)?;
        let key = Key::new("phone", 1).with(&sha256_file(&kept)?).with(R8::identity());
        let key = key.with(&CLASSES.join(" ")).with(&INSIDE.join(" ")).with(SECURITY);
        let made = Cache::open(&target().join("apps/cache"))?.step("phone", &key, |out| {
            let names = jar::names(&kept)?;
            let taken: Vec<&String> = names.iter().filter(|name| takes(name)).collect();
            for wanted in CLASSES.iter().chain(&INSIDE) {
                let is_there = taken.iter().any(|name| name.strip_suffix(".class") == Some(wanted));
                ensure!(is_there, "API {API} has no {wanted}");
            }
            let (classes, dexed) = (out.join("classes.jar"), out.join("dexed.jar"));
            jar::write(&classes, &jar::read_entries(&kept, &taken)?)?;
            testbed.dex_platform(&[classes], &dexed)?;
            let mut entries = jar::read_entries(&dexed, &[&"classes.dex".to_owned()])?;
            entries.push(("java/security/security.properties".to_owned(), SECURITY.into()));
            jar::write(&out.join("phone.jar"), &entries)
        })?;
        let folder = target().join("apps/phones").join(&testbed.manifest.name);
        let testbed = derive(testbed, &folder, |manifest| {
            let jar = made.join("phone.jar");
            for path in [&mut manifest.boot_class_path, &mut manifest.boot_class_path_hidden_api] {
                let last = path.len().saturating_sub(1);
                path.insert(last, jar.clone());
            }
            // What a device's Build reads and cannot do without.
            let properties = [
                ("ro.build.version.sdk", manifest.api_level.to_string()),
                ("ro.build.version.all_codenames", "REL".to_owned()),
                ("ro.product.cpu.abilist", "x86_64".to_owned()),
                ("ro.product.cpu.abilist64", "x86_64".to_owned()),
            ];
            manifest.vm_options.extend(properties.map(|(name, value)| format!("-D{name}={value}")));
        })?;
        Ok(Self { testbed, classes: made.join("classes.jar") })
    }
}

fn takes(entry: &str) -> bool {
    let Some(class) = entry.strip_suffix(".class") else { return false };
    let outer = class.split('$').next().unwrap_or(class);
    CLASSES.contains(&outer) || INSIDE.contains(&class)
}
