//! What one source may cost: calls in a time, calls at once, retries, and when to leave it alone.
//! No locks: a call touches a few atomics.

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota};
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Calls in a time, such as `50/s`, `100/m` or `1000/h`; bursts up to the number itself.
pub struct Rate {
    limiter: DefaultDirectRateLimiter,
    clock: DefaultClock,
}

impl Rate {
    /// Reads `N/s`, `N/m` or `N/h`; the error says what was expected.
    pub fn parse(text: &str) -> Result<Rate, String> {
        let wrong =
            || format!("`{text}` is no rate: expected a number over a unit such as `50/s`, `100/m` or `1000/h`");
        let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
        let number: NonZeroU32 = number.trim().parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "s" | "sec" | "second" => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hour" => 3600,
            _ => return Err(wrong()),
        };
        let period = Duration::from_secs(seconds).checked_div(number.get()).filter(|one| !one.is_zero());
        let quota = period.and_then(Quota::with_period).ok_or_else(wrong)?.allow_burst(number);
        Ok(Rate { limiter: DefaultDirectRateLimiter::direct(quota), clock: DefaultClock::default() })
    }

    /// Takes one call out of the rate, or says how long to wait for the next.
    pub fn check(&self) -> Result<(), Duration> {
        self.limiter.check().map(|_| ()).map_err(|not_yet| not_yet.wait_time_from(self.clock.now()))
    }
}

impl std::fmt::Debug for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rate")
    }
}

/// Rates by tenant.
#[derive(Debug, Default)]
pub struct TenantRates(HashMap<String, Rate>);

impl TenantRates {
    /// Reads the rate of each tenant; every problem is one text.
    pub fn new<'a>(rates: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<TenantRates, Vec<String>> {
        let mut problems = Vec::new();
        let mut read = HashMap::new();
        for (tenant, rate) in rates {
            match Rate::parse(rate) {
                Ok(rate) => drop(read.insert(tenant.to_owned(), rate)),
                Err(problem) => problems.push(format!("access.tenants.{tenant}.rate: {problem}")),
            }
        }
        if problems.is_empty() { Ok(TenantRates(read)) } else { Err(problems) }
    }

    /// Takes one call out of the tenant's rate; tenants without one are not limited.
    pub fn check(&self, tenant: Option<&str>) -> Result<(), Duration> {
        match tenant.and_then(|tenant| self.0.get(tenant)) {
            Some(rate) => rate.check(),
            None => Ok(()),
        }
    }
}

/// Circuit breaker: opens after failures in a row, lets one call through after the cooldown.
#[derive(Debug)]
pub(super) struct Breaker {
    failures: u32,
    cooldown: Duration,
    epoch: Instant,
    in_a_row: AtomicU32,
    /// Milliseconds since `epoch`, plus one, when it opened; 0 = closed.
    opened: AtomicU64,
    probing: AtomicBool,
}

/// Leave to make one call; tells the breaker how it went. Dropped without a word (the caller went
/// away) it counts for nothing.
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    probe: bool,
}

impl Breaker {
    pub(super) fn new(settings: &crate::mapping::Breaker) -> Breaker {
        Breaker {
            failures: settings.failures.max(1),
            cooldown: settings.cooldown.0,
            epoch: Instant::now(),
            in_a_row: AtomicU32::new(0),
            opened: AtomicU64::new(0),
            probing: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Leave to call, or how long the breaker stays open.
    pub(super) fn enter(&self) -> Result<Pass<'_>, Duration> {
        let opened = self.opened.load(Relaxed);
        if opened == 0 {
            return Ok(Pass { breaker: self, probe: false });
        }
        let open_for = Duration::from_millis(self.now().saturating_sub(opened));
        match self.cooldown.checked_sub(open_for).filter(|left| !left.is_zero()) {
            Some(left) => Err(left),
            None if !self.probing.swap(true, Relaxed) => Ok(Pass { breaker: self, probe: true }),
            None => Err(self.cooldown.min(Duration::from_secs(1))),
        }
    }

    /// 0 closed, 1 open, 2 trying.
    pub(super) fn state(&self) -> u8 {
        match (self.opened.load(Relaxed), self.probing.load(Relaxed)) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        }
    }
}

impl Pass<'_> {
    /// The call is over.
    pub(super) fn done(self, good: bool) {
        let breaker = self.breaker;
        if good {
            breaker.in_a_row.store(0, Relaxed);
            breaker.opened.store(0, Relaxed);
        } else {
            let in_a_row = breaker.in_a_row.fetch_add(1, Relaxed).saturating_add(1);
            if self.probe || in_a_row >= breaker.failures {
                breaker.opened.store(breaker.now(), Relaxed);
            }
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe {
            self.breaker.probing.store(false, Relaxed);
        }
    }
}

/// Keeps retries from turning an outage into a storm: in each window of ten seconds, one retry for
/// five calls, and ten a second in any case.
#[derive(Debug)]
pub(super) struct Budget {
    epoch: Instant,
    window: AtomicU64,
    calls: AtomicU32,
    retries: AtomicU32,
}

impl Budget {
    const WINDOW: u64 = 10;
    const FLOOR: u32 = 100;

    pub(super) fn new() -> Budget {
        Budget {
            epoch: Instant::now(),
            window: AtomicU64::new(0),
            calls: AtomicU32::new(0),
            retries: AtomicU32::new(0),
        }
    }

    /// A call begins.
    pub(super) fn call(&self) {
        self.roll();
        self.calls.fetch_add(1, Relaxed);
    }

    /// True if one more retry is within the budget; takes it.
    pub(super) fn retry(&self) -> bool {
        self.roll();
        let allowed = self.calls.load(Relaxed) / 5 + Self::FLOOR;
        self.retries.fetch_add(1, Relaxed) < allowed
    }

    fn roll(&self) {
        let current = self.epoch.elapsed().as_secs() / Self::WINDOW;
        let seen = self.window.load(Relaxed);
        if seen != current && self.window.compare_exchange(seen, current, Relaxed, Relaxed).is_ok() {
            self.calls.store(0, Relaxed);
            self.retries.store(0, Relaxed);
        }
    }
}
