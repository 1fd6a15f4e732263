//! A REST backend that answers from a document's examples and schemas.
