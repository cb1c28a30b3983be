//! The file of presets: what the gallery shows of them, and their scenarios.
//!
//! For the program that writes it: one that calls this carries the drawings.

/// A line of the file: name, question, what to look for, drawing and scenario, with tabs between. The layout of the JSON goes;
/// a text of a scenario has no line breaks and no tabs but those of its layout.
#[must_use]
pub fn preset_line(name: &str, question: &str, look_for: &str, json: &str) -> String {
    let json: String = json.lines().map(str::trim).collect();
    format!("{name}\t{question}\t{look_for}\t{}\t{json}\n", drawing(name))
}

/// A drawing of what the preset is about, as the inside of an SVG of 240 × 84.
fn drawing(name: &str) -> &'static str {
    match name {
        "flash-crowd" => {
            r#"<path d="M0 64h90c6 0 6-46 14-46h40c14 0 16 40 40 44 20 3 30 2 56 2v20H0z" fill="var(--k2)" opacity=".35"/><path d="M0 64h90c6 0 6-46 14-46h40c14 0 16 40 40 44 20 3 30 2 56 2" fill="none" stroke="var(--k2)" stroke-width="2.2"/><path d="M0 40h240" stroke="var(--ink)" stroke-dasharray="4 4"/>"#
        }
        "mm1" => {
            r#"<g fill="var(--k1)"><circle cx="96" cy="42" r="4"/><circle cx="82" cy="42" r="4"/><circle cx="68" cy="42" r="4"/><circle cx="30" cy="42" r="4"/><circle cx="150" cy="42" r="4"/></g><path d="M56 26h58v32H56" fill="none" stroke="var(--ink-3)" stroke-width="1.6"/><circle cx="150" cy="42" r="17" fill="none" stroke="var(--ink)" stroke-width="2"/><path d="M114 42h16M170 42h40" stroke="var(--ink-3)" stroke-width="1.6"/>"#
        }
        "mmc" => {
            r#"<path d="M46 26h58v32H46" fill="none" stroke="var(--ink-3)" stroke-width="1.6"/><g fill="var(--k1)"><circle cx="86" cy="42" r="4"/><circle cx="72" cy="42" r="4"/></g><g fill="var(--k1)"><rect x="140" y="12" width="24" height="12" rx="3"/><rect x="140" y="28" width="24" height="12" rx="3"/><rect x="140" y="44" width="24" height="12" rx="3"/><rect x="172" y="12" width="24" height="12" rx="3"/><rect x="172" y="28" width="24" height="12" rx="3"/></g><g fill="none" stroke="var(--k1)" stroke-width="1.4"><rect x="140" y="60" width="24" height="12" rx="3"/><rect x="172" y="44" width="24" height="12" rx="3"/><rect x="172" y="60" width="24" height="12" rx="3"/></g>"#
        }
        "four-classes" => {
            r#"<g fill="var(--k1)"><circle cx="60" cy="16" r="4"/><circle cx="110" cy="16" r="4"/></g><path d="m50 29 5 5-5 5-5-5zM80 29l5 5-5 5-5-5zM118 29l5 5-5 5-5-5z" fill="var(--k2)"/><path d="M46 48h8v8h-8zM66 48h8v8h-8zM88 48h8v8h-8zM114 48h8v8h-8z" fill="var(--k3)"/><path d="m50 66 5 9H45zM64 66l5 9H59zM78 66l5 9H73zM92 66l5 9H87zM106 66l5 9h-10zM120 66l5 9h-10z" fill="var(--k4)"/><path d="M150 8v68" stroke="var(--ink)" stroke-width="3"/><path d="M160 70c22 0 22 8 30 8" stroke="var(--loss)" fill="none" stroke-width="2"/>"#
        }
        "closed-clients" => {
            r#"<g fill="none" stroke="var(--ink-3)" stroke-width="1.6"><path d="M70 26c40-20 80-16 100 6m-1-8 2 9-9-1M170 58c-40 20-80 16-100-6m1 8-2-9 9 1"/></g><g fill="var(--k1)"><circle cx="46" cy="42" r="5"/><circle cx="60" cy="34" r="5"/><circle cx="60" cy="50" r="5"/></g><rect x="180" y="30" width="18" height="24" rx="3" fill="var(--ink)"/>"#
        }
        "bursty" => {
            r#"<path d="M14 66h34l6-48 6 48h40l6-40 6 40h32l6-52 6 52h70" fill="none" stroke="var(--k2)" stroke-width="2.2"/><path d="M14 54h212" stroke="var(--k1)" stroke-width="2.2"/>"#
        }
        "slow-server" => {
            r#"<g fill="none" stroke="var(--ink)" stroke-width="2"><path d="M20 42h50M70 42c30 0 30-24 60-24h90M70 42c30 0 30 24 60 24h90"/></g><path d="M70 42h150" stroke="var(--loss)" stroke-width="7" opacity=".4"/><g fill="var(--loss)"><circle cx="150" cy="42" r="4"/><circle cx="165" cy="42" r="4"/><circle cx="180" cy="42" r="4"/><circle cx="195" cy="42" r="4"/></g>"#
        }
        "server-down" => {
            r#"<g fill="var(--ink)"><rect x="56" y="24" width="18" height="40" rx="3"/><rect x="92" y="24" width="18" height="40" rx="3"/><rect x="164" y="24" width="18" height="40" rx="3"/></g><rect x="128" y="24" width="18" height="40" rx="3" fill="none" stroke="var(--loss)" stroke-width="1.8" stroke-dasharray="4 3"/><path d="M137 34v14M137 54v1" stroke="var(--loss)" stroke-width="2.4" stroke-linecap="round"/>"#
        }
        "strict-starvation" => {
            r#"<path d="M14 62h66c6 0 6-36 12-36h52c6 0 6 36 12 36h70" fill="none" stroke="var(--k1)" stroke-width="2.4"/><path d="M14 44h66c6 0 6 28 12 28h52c6 0 6-28 12-28h70" fill="none" stroke="var(--k2)" stroke-width="2.4"/>"#
        }
        "fixed-split" => {
            r#"<g fill="var(--k1)"><rect x="60" y="18" width="20" height="20" rx="4"/></g><rect x="60" y="46" width="20" height="20" rx="4" fill="none" stroke="var(--k1)" stroke-width="1.6"/><path d="M92 12v60" stroke="var(--ink)" stroke-width="2"/><g fill="var(--k2)"><rect x="104" y="18" width="20" height="20" rx="4"/><rect x="104" y="46" width="20" height="20" rx="4"/></g><path d="m146 23 5 5-5 5-5-5zM162 23l5 5-5 5-5-5zM178 23l5 5-5 5-5-5zM146 51l5 5-5 5-5-5zM162 51l5 5-5 5-5-5z" fill="var(--k2)"/>"#
        }
        "trace-replay" => {
            r#"<g stroke="var(--ink-3)" stroke-width="1.6"><path d="M36 20h58M36 32h44M36 44h64M36 56h38M36 68h52"/></g><path d="M116 42h20m-6-6 6 6-6 6" fill="none" stroke="var(--ink)" stroke-width="1.8"/><g fill="var(--k1)"><circle cx="160" cy="42" r="4"/><circle cx="172" cy="42" r="4"/></g><path d="m188 37 5 5-5 5-5-5zM204 37l5 5-5 5-5-5z" fill="var(--k2)"/>"#
        }
        "red5-dnf" | "mixed-generation-servers" => {
            r#"<path d="M20 42h40c24 0 20-26 50-26M60 42c24 0 20 26 50 26" fill="none" stroke="var(--ink-3)" stroke-width="1.6"/><g fill="var(--ink)"><rect x="112" y="8" width="90" height="16" rx="3"/><rect x="112" y="60" width="36" height="16" rx="3"/></g><circle cx="30" cy="42" r="5" fill="var(--k1)"/><path d="M46 37h10v10H46z" fill="var(--k3)"/>"#
        }
        "herd" | "stale-reports" => {
            r#"<g fill="none" stroke="var(--ink-3)" stroke-width="1.6"><rect x="160" y="8" width="50" height="18" rx="3"/><rect x="160" y="33" width="50" height="18" rx="3" stroke="var(--loss)"/><rect x="160" y="58" width="50" height="18" rx="3"/></g><g fill="var(--k1)"><circle cx="50" cy="24" r="4"/><circle cx="64" cy="60" r="4"/><circle cx="84" cy="32" r="4"/><circle cx="96" cy="50" r="4"/><circle cx="112" cy="38" r="4"/><circle cx="124" cy="44" r="4"/><circle cx="138" cy="41" r="4"/><circle cx="149" cy="42" r="4"/></g>"#
        }
        "slow-backend" | "noisy-neighbour" => {
            r#"<g fill="var(--ink)"><rect x="70" y="20" width="18" height="44" rx="3"/><rect x="106" y="20" width="18" height="44" rx="3"/></g><rect x="142" y="20" width="18" height="44" rx="3" fill="none" stroke="var(--ink-3)" stroke-width="1.8"/><path d="M143 52h16v11h-16z" fill="var(--loss)"/>"#
        }
        "empty" => {
            r#"<path d="M20 42h200" stroke="var(--ink-3)" stroke-width="1.6" stroke-dasharray="3 6"/>"#
        }
        name if name.starts_with("seda-loop") => {
            r#"<path d="M76 22a20 20 0 1 0 14 34m1-12v12H79" fill="none" stroke="var(--ink-3)" stroke-width="1.8"/><circle cx="130" cy="42" r="4" fill="var(--k1)"/><path d="m150 37 5 5-5 5-5-5z" fill="var(--k2)"/><path d="M166 24h36v36h-36z" fill="var(--k3)"/>"#
        }
        name if name.starts_with("seda-") => {
            r#"<path d="M14 66h92l50-30V14h70" fill="none" stroke="var(--loss)" stroke-width="2.2"/><path d="M106 12v62M156 12v62" stroke="var(--ink-3)" stroke-dasharray="3 3"/><g fill="var(--k1)"><circle cx="34" cy="66" r="5"/></g><path d="m84 60 6 6-6 6-6-6z" fill="var(--k2)"/><path d="M129 42h10v10h-10z" fill="var(--k3)"/>"#
        }
        name if name.starts_with("starvation") => {
            r#"<path d="M20 24h60M20 42h60M20 60h60" stroke="var(--ink-3)" stroke-width="1.6"/><g fill="var(--k1)"><circle cx="120" cy="24" r="5"/><circle cx="140" cy="24" r="5"/><circle cx="160" cy="24" r="5"/></g><path d="M114 55h10v10h-10zM134 55h10v10h-10zM154 55h10v10h-10z" fill="none" stroke="var(--k3)" stroke-width="1.8"/><path d="M190 14v56" stroke="var(--ink)" stroke-width="3"/>"#
        }
        name if name.starts_with("early") => {
            r#"<path d="M20 34h60M100 34h50M170 34h50" stroke="var(--ink-3)" stroke-width="1.6"/><path d="M90 12v44M160 12v44" stroke="var(--ink)" stroke-width="3"/><path d="M80 34c10 0 4 20 4 38M150 34c10 0 4 20 4 38" stroke="var(--loss)" fill="none" stroke-width="2" stroke-dasharray="4 3"/><circle cx="50" cy="34" r="5" fill="var(--k1)"/>"#
        }
        name if name.starts_with("pdd-") || name == "wrong-prior" => {
            r#"<g fill="var(--k1)"><rect x="40" y="12" width="14" height="14" rx="3"/><rect x="58" y="12" width="14" height="14" rx="3"/><rect x="76" y="12" width="14" height="14" rx="3"/><rect x="40" y="32" width="14" height="14" rx="3"/><rect x="58" y="32" width="14" height="14" rx="3"/></g><g fill="var(--k2)"><rect x="76" y="32" width="14" height="14" rx="3"/><rect x="40" y="52" width="14" height="14" rx="3"/><rect x="58" y="52" width="14" height="14" rx="3"/><rect x="76" y="52" width="14" height="14" rx="3"/></g><path d="M112 42h88" stroke="var(--ink)" stroke-dasharray="4 4"/><path d="M112 42h30c4 0 4-26 8-26s6 32 12 30 6-4 12-4h26" fill="none" stroke="var(--k2)" stroke-width="2.2"/>"#
        }
        name if name.starts_with("retry") => {
            r#"<path d="M60 60c-30-10-30-40 0-46h90m-7-6 8 6-8 6M180 24c30 10 30 40 0 46H90m7-6-8 6 8 6" fill="none" stroke="var(--loss)" stroke-width="2"/><g fill="var(--k2)"><path d="m100 36 6 6-6 6-6-6zM120 36l6 6-6 6-6-6zM140 36l6 6-6 6-6-6z"/></g>"#
        }
        _ => {
            r#"<path d="M30 58c20 0 20-32 40-32s20 32 40 32 20-32 40-32 20 32 40 32" fill="none" stroke="var(--k1)" stroke-width="2.2"/><circle cx="206" cy="42" r="5" fill="var(--ok)"/>"#
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_a_line() {
        let json = "{\n  \"title\": \"Two  words\",\n  \"classes\": [\n    {}\n  ]\n}\n";
        let line = preset_line("empty", "Why?", "That.", json);
        assert!(line.starts_with("empty\tWhy?\tThat.\t<path "), "{line}");
        assert!(line.ends_with("\t{\"title\": \"Two  words\",\"classes\": [{}]}\n"), "{line}");
        assert_eq!(line.matches(['\t', '\n']).count(), 5);
    }
}
