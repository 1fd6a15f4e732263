//! HTTP dates (RFC 9110 §5.6.7) as seconds, only ever compared with each other.

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Seconds since 1970-01-01 of `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`
/// or `Sun Nov  6 08:49:37 1994`.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let mut day = None;
    let mut month = None;
    let mut year: Option<i64> = None;
    let mut time = None;
    for token in text.split([' ', ',', '-']).filter(|token| !token.is_empty()) {
        if token.contains(':') {
            time = time_of_day(token);
            continue;
        }
        if let Ok(number) = token.parse::<i64>() {
            if day.is_none() && token.len() <= 2 {
                day = Some(number);
            } else {
                // RFC 850 dates carry two digits: those of the past century from 70 on.
                year = Some(match number {
                    0..=69 => number + 2000,
                    70..=99 => number + 1900,
                    _ => number,
                });
            }
            continue;
        }
        let name = token.to_ascii_lowercase();
        month = month.or_else(|| MONTHS.iter().position(|one| *one == name));
    }
    let (day, month, year) = (day?, i64::try_from(month?).ok()? + 1, year?);
    if !(1..=31).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    Some(days(year, month, day) * 86_400 + time?)
}

fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':').map(|part| part.parse::<i64>().ok().filter(|number| (0..=60).contains(number)));
    Some(parts.next()?? * 3600 + parts.next()?? * 60 + parts.next()??)
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar; years start in March so that the leap day is last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
