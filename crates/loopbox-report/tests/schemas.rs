//! `docs/schema` is made from the types that are printed.

use loopbox_report::{json_text, schema};
use std::fs;
use std::path::PathBuf;

#[test]
fn published_schemas_are_those_of_the_types() {
    let folder = std::env::current_dir().unwrap().join("../../docs/schema");
    let mut published: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for (name, schema) in schema::schemas() {
        let (file, made) = (folder.join(name), json_text(&schema).unwrap());
        published.retain(|path| *path != file);
        if std::env::var_os("LOOPBOX_BLESS").is_some() {
            fs::write(&file, &made).unwrap();
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(written == made, "{name} is not of the types: LOOPBOX_BLESS=1 writes it");
    }
    assert_eq!(published, Vec::<PathBuf>::new(), "schemas of no type");
}
