//! Takes out of an API's own words what a model must not see or can't use: our address of the API, stack traces,
//! control characters, and whatever is too long.

/// The text, at most `budget` bytes long. `base_url` is where the API stands.
pub(super) fn text(raw: &str, base_url: Option<&str>, budget: usize) -> String {
    let without_traces = drop_traces(raw);
    let mut text = match base_url {
        Some(base_url) => hide_host(&without_traces, base_url),
        None => without_traces,
    };
    text.retain(|char| !char.is_control() || matches!(char, '\n' | '\t'));
    let text = text.trim();
    if text.len() <= budget {
        return text.to_owned();
    }
    let end = (0..=budget).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default().trim_end())
}

/// Removes the lines of stack traces (Java, JavaScript, .NET, Python, Ruby, Go, Rust, PHP); the message lines stay.
fn drop_traces(text: &str) -> String {
    let mut kept = Vec::new();
    let mut python = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indented = trimmed.len() < line.len();
        if trimmed.starts_with("Traceback (most recent call last)") {
            python = true;
            continue;
        }
        if python {
            // Frames are indented; the exception's own line is not.
            if indented || trimmed.is_empty() {
                continue;
            }
            python = false;
        }
        if trimmed.starts_with("stack backtrace:")
            || trimmed.starts_with("goroutine ")
            || trimmed.starts_with("Stack trace:")
        {
            break;
        }
        if !is_frame(trimmed) {
            kept.push(line);
        }
    }
    kept.join("\n")
}

fn is_frame(line: &str) -> bool {
    let at = line.strip_prefix("at ").is_some_and(|rest| rest.contains(['(', ':', '.', '/']) && !rest.contains(". "));
    let more = line
        .strip_prefix("... ")
        .is_some_and(|rest| rest.ends_with(" more") || rest.ends_with(" common frames omitted"));
    let python = line.starts_with("File \"") && line.contains("\", line ");
    let numbered = line
        .strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()) && rest.contains("): "));
    let ruby = line.strip_prefix("from ").is_some_and(|rest| rest.contains(".rb:"));
    at || more || python || numbered || ruby
}

/// Cuts our address of the API out: URLs keep their path, a bare host becomes "the API".
fn hide_host(text: &str, base_url: &str) -> String {
    let Ok(url) = url::Url::parse(base_url) else { return text.to_owned() };
    let Some(host) = url.host_str() else { return text.to_owned() };
    let with_port = url.port_or_known_default().map(|port| format!("{host}:{port}"));
    let mut hidden = text.to_owned();
    for authority in with_port.as_deref().into_iter().chain([host]) {
        for scheme in ["https://", "http://"] {
            hidden = replace_whole(&hidden, &format!("{scheme}{authority}"), "");
        }
    }
    // A bare name is only told from an ordinary word by a dot or its port.
    if let Some(authority) = &with_port {
        hidden = replace_whole(&hidden, authority, "the API");
    }
    if host.contains(['.', ':']) {
        hidden = replace_whole(&hidden, host, "the API");
    }
    hidden
}

/// Replaces `needle` where it does not go on as a longer name or number.
fn replace_whole(text: &str, needle: &str, by: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(needle) {
        let (before, tail) = rest.split_at(at);
        let after = tail.get(needle.len()..).unwrap_or_default();
        done.push_str(before);
        let goes_on = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let begins_inside = before.ends_with(goes_on) || before.ends_with('.');
        if begins_inside
            || after.starts_with(goes_on)
            || after.strip_prefix('.').is_some_and(|next| next.starts_with(goes_on))
        {
            done.push_str(needle);
        } else {
            done.push_str(by);
        }
        rest = after;
    }
    done.push_str(rest);
    done
}
