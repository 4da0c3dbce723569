//! Undoing R8/ProGuard: a report with obfuscated names to one with the names of the source, before any view.
