//! Many reports grouped by cause and stack signature.
