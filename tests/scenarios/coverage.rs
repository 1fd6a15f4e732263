//! Every key of the mapping language is used by a story or a refusal.
