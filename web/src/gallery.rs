//! The presets as the gallery shows them: drawing, and Chinese words for what the core says in English.

use crate::words::Language;
use tidegate_core::scenario::presets::Preset;

/// Chinese title and question of a preset.
const CHINESE: &[(&str, &str, &str)] = &[
    ("flash-crowd", "突发人流", "人流涌入，又坏一台服务器：谁还能得到回应？"),
    ("mm1", "单服务器 M/M/1", "一台服务器忙 80% 的时间，前面要等多久？"),
    ("mmc", "八个位置 M/M/8", "八个位置共用一条队列，好处有多大？"),
    ("four-classes", "四类过载", "需求比八台服务器的能力多五分之一，哪一类承担？"),
    ("closed-clients", "会等待的客户", "客户等到回应才再次请求，会有什么不同？"),
    ("bursty", "突发与平稳", "平均负载只有 70%，突发还有害吗？"),
    ("slow-server", "一台变慢", "轮询时，一台慢服务器对所有人有什么影响？"),
    ("server-down", "一台离线", "四台少一台，二十秒，要多久才能恢复？"),
    ("strict-starvation", "优先级饿死", "高优先级独占服务器时，低优先级还剩什么？"),
    ("fixed-split", "预留线程", "为一类请求预留线程，代价是什么？"),
    ("trace-replay", "回放轨迹", "你自己的流量会让三台服务器怎样？"),
    ("demo", "实况演示", "三台源站，负载起伏：真实请求会怎样？"),
    ("seda-exp1", "SEDA 实验一：优先级", "900 个客户都要 20 KB，优先级有什么作用？"),
    ("seda-exp1-haboob", "SEDA 实验一：Haboob", "同样的 900 个客户排成一队呢？"),
    ("seda-exp2", "SEDA 实验二：优先级", "900 个客户要 1.1 MB，链路全发完要 79 秒，谁能拿到？"),
    ("seda-exp2-haboob", "SEDA 实验二：Haboob", "如果 900 个都可以一直等呢？"),
    ("seda-exp3", "SEDA 实验三：优先级", "最低一类要大文件时，紧急的小页面会怎样？"),
    ("seda-exp3-haboob", "SEDA 实验三：Haboob", "如果小页面排在大文件后面呢？"),
    ("seda-loop-1", "SEDA 循环一：Tidegate", "900 个客户反复要 20 KB，最低一类还能分到吗？"),
    ("seda-loop-2", "SEDA 循环二：Tidegate", "900 个客户反复要 1.1 MB，各类要等多久？"),
    ("seda-loop-3", "SEDA 循环三：Tidegate", "大文件源源不断，紧急小页面能否仍然很快，大文件也发得出去？"),
    ("seda-loop-3-published", "SEDA 循环三：论文原规则", "同样的循环，按论文的规则会怎样？"),
    ("seda-loop-3-fifo", "SEDA 循环三：先来先服务", "同样的循环，大家排成一队呢？"),
    ("starvation", "饿死：只有严格优先", "紧急请求已超出处理能力，低优先级还剩什么？"),
    ("starvation-aged", "饿死：加上老化", "把五分之一的工作量留给等得太久的请求呢？"),
    ("early-drop-vs-late-drop", "早拒绝", "在哪里拒绝，有区别吗？"),
    ("early-drop-vs-late-drop-late", "晚拒绝", "如果每个阶段各自拒绝呢？"),
    ("retry-storm", "重试风暴", "人潮已经退去，为什么过载还在继续？"),
    ("retry-storm-calmed", "平息重试风暴", "如果让队列保持很短呢？"),
    ("pdd-two-class", "延迟一比二", "Gold 的客户增加一倍，等待还能是 Silver 的一半吗？"),
    ("pdd-open-loop", "延迟听其自然", "线程划分一直不变，各类的延迟会怎样？"),
    ("pdd-reservation", "事先留好配额", "配额正合高峰，其他时候还能保持比例吗？"),
    ("pdd-best-effort", "两类排一队", "如果两类排同一条队列呢？"),
    ("pdd-three-class", "延迟一比二比四", "一类负载加倍又回落，三类还能保持 1 : 2 : 4 吗？"),
    ("pdd-operating-point", "从轻载到重载", "适合重载的控制器，轻载时还能保持比例吗？"),
    ("pdd-small-pool", "八个线程", "多一个或少一个线程，比例就差一半，还能保持多准？"),
    ("pdd-class-flip", "人潮易位", "人潮从一类转到另一类，线程多快能跟上？"),
    ("wrong-prior", "猜错了增益", "控制器开始时假定的增益差了四倍，会怎样？"),
    ("red5-dnf", "四台媒体服务器：聊天、直播、点播", "按负载报告分配长会话，比数连接数更好吗？"),
    ("noisy-neighbour", "邻居占去三分之二", "同一台机器上的别的程序占去三分之二处理器，对所有人有什么影响？"),
    ("slow-backend", "六台之一半死不活", "一台服务器半死不活却通过健康检查，代价有多大？"),
    ("stale-reports", "负载报告卡住了", "一台服务器反复报告自己很闲，会怎样？"),
    ("mixed-generation-servers", "新旧机器，两种工作", "核多网慢的机器，权重该是多少？"),
    ("herd", "大家都去最好的三分之一", "为什么不把请求都交给最闲的三分之一？"),
];

/// Title of a scenario in a language: translated if it is a preset's, else as it is.
#[must_use]
pub fn title(title: &str, language: Language) -> &str {
    let preset = tidegate_core::scenario::presets::ALL.iter().find(|p| p.title == title);
    match (language, preset) {
        (Language::Chinese, Some(preset)) => texts(preset, language).0,
        _ => title,
    }
}

/// Title and question of a preset.
#[must_use]
pub fn texts(preset: &Preset, language: Language) -> (&'static str, &'static str) {
    let chinese = CHINESE.iter().find(|(name, ..)| *name == preset.name);
    match (language, chinese) {
        (Language::Chinese, Some((_, title, question))) => (title, question),
        _ => (preset.title, preset.question),
    }
}

/// A drawing of what the preset is about, as the inside of an SVG of 240 × 84.
#[must_use]
pub fn drawing(name: &str) -> &'static str {
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
    use tidegate_core::scenario::presets;

    #[test]
    fn every_preset_is_translated() {
        for preset in presets::ALL {
            let (title, question) = texts(preset, Language::Chinese);
            assert!(title != preset.title && question != preset.question, "{} has no Chinese", preset.name);
            assert_eq!(super::title(preset.title, Language::Chinese), title);
            assert_eq!(super::title(preset.title, Language::English), preset.title);
        }
        for (name, ..) in CHINESE {
            assert!(presets::get(name).is_some(), "{name} is no preset any more");
        }
    }
}
