//! Sends requests: connection pools, time limits, retries, circuit breaker, credentials that must be fetched.
