//! What the fuzz targets share.

pub mod api;
pub mod double;
pub mod generate;
pub mod url;
