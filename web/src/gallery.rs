//! The presets as the gallery shows them: drawing, and Chinese words for what the core says in English.

use crate::words::{Language, Word};
use tidegate_core::scenario::presets::{self, Preset};

/// Chinese title, question and what to look for of a preset.
const CHINESE: &[(&str, &str, &str, &str)] = &[
    (
        "flash-crowd",
        "突发人流",
        "人流涌入，又坏一台服务器：谁还能得到回应？",
        "Checkout 一直很快。从 1:00 起，Crawlers 四分之三被拒绝，api-4 离线期间全部被拒绝；到那时 Browse 才也有损失。",
    ),
    (
        "mm1",
        "单服务器 M/M/1",
        "一台服务器忙 80% 的时间，前面要等多久？",
        "平均等待稳定在 4 毫秒，是服务时间的四倍；平均响应 5 毫秒。",
    ),
    (
        "mmc",
        "八个位置 M/M/8",
        "八个位置共用一条队列，好处有多大？",
        "利用率 90% 时平均等待 8.77 毫秒，还不到一个服务时间；单台服务器在同样负载下要等九个服务时间。",
    ),
    (
        "four-classes",
        "四类过载",
        "需求比八台服务器的能力多五分之一，哪一类承担？",
        "三类的吞吐不受影响；最低一类承担全部损失，每秒 300 个请求丢掉一半多。",
    ),
    (
        "closed-clients",
        "会等待的客户",
        "客户等到回应才再次请求，会有什么不同？",
        "二十个客户稳定在每秒约 165 个请求，队列一直不长：他们自己会慢下来。",
    ),
    (
        "bursty",
        "突发与平稳",
        "平均负载只有 70%，突发还有害吗？",
        "几乎所有等待都发生在突发期间。突发的一类等待约为平稳一类的两倍：它的请求多半正赶上拥挤的时候。",
    ),
    (
        "slow-server",
        "一台变慢",
        "轮询时，一台慢服务器对所有人有什么影响？",
        "0:30 到 1:00，吞吐降到慢的 api-3 能力的四倍：它的请求占住了所有线程。换成最少连接，几乎没人察觉。",
    ),
    (
        "server-down",
        "一台离线",
        "四台少一台，二十秒，要多久才能恢复？",
        "队列约八秒填满，之后每七个请求拒绝一个。0:50 服务器恢复，几秒后队列又空了。",
    ),
    (
        "strict-starvation",
        "优先级饿死",
        "高优先级独占服务器时，低优先级还剩什么？",
        "约 0:23 到 0:40，Interactive 占去每秒 100 个的全部能力，Batch 一个也得不到处理。",
    ),
    (
        "fixed-split",
        "预留线程",
        "为一类请求预留线程，代价是什么？",
        "Gold 只等 2 毫秒，Bronze 却每秒被拒绝 100 次，而 Gold 的两个线程大半时间闲着。不划分的话，几乎人人都能得到处理。",
    ),
    (
        "trace-replay",
        "回放轨迹",
        "你自己的流量会让三台服务器怎样？",
        "用 --input 交给它一份日志或轨迹，每一行都会在记录的时刻成为一个请求。",
    ),
    (
        "demo",
        "实况演示",
        "三台源站，负载起伏：真实请求会怎样？",
        "每三十秒负载超过源站能力一次：Checkout 几乎不等，Crawlers 要等几秒，或者被拒绝。",
    ),
    (
        "seda-exp1",
        "SEDA 实验一：优先级",
        "900 个客户都要 20 KB，优先级有什么作用？",
        "论文 S 实验一，按论文规则。无人被拒绝；High 约十毫秒得到回应，Middle 半秒，Low 一秒。",
    ),
    (
        "seda-exp1-haboob",
        "SEDA 实验一：Haboob",
        "同样的 900 个客户排成一队呢？",
        "实验一的另一半：人人等约半秒，最后一个回应离开的时刻相同。",
    ),
    (
        "seda-exp2",
        "SEDA 实验二：优先级",
        "900 个客户要 1.1 MB，链路全发完要 79 秒，谁能拿到？",
        "论文 S 实验二，按论文规则。从 Low 到 High，每类 300 个中分别约有 110、160、280 个得到回应，其余让给了它们。",
    ),
    (
        "seda-exp2-haboob",
        "SEDA 实验二：Haboob",
        "如果 900 个都可以一直等呢？",
        "人人都有回应，平均要等 40 秒；先来的先得，不分类别。",
    ),
    (
        "seda-exp3",
        "SEDA 实验三：优先级",
        "最低一类要大文件时，紧急的小页面会怎样？",
        "论文 S 实验三，按论文规则：差距最大。10 秒内 900 个中约 700 个得到回应，是排成一队时的两倍多。",
    ),
    (
        "seda-exp3-haboob",
        "SEDA 实验三：Haboob",
        "如果小页面排在大文件后面呢？",
        "10 秒内 900 个中只有约 330 个得到回应：一个 20 KB 的页面，要等前面所有大文件发完。",
    ),
    (
        "seda-loop-1",
        "SEDA 循环一：Tidegate",
        "900 个客户反复要 20 KB，最低一类还能分到吗？",
        "Low 和 Middle 合起来得到链路的五分之一，而严格优先时只有千分之一；为此 High 的平均响应从 0.31 秒升到 0.43 秒。",
    ),
    (
        "seda-loop-2",
        "SEDA 循环二：Tidegate",
        "900 个客户反复要 1.1 MB，各类要等多久？",
        "链路一直占满；从 High 到 Low，平均响应约为 4、8、13 秒，谁也不会等过 23 秒。",
    ),
    (
        "seda-loop-3",
        "SEDA 循环三：Tidegate",
        "大文件源源不断，紧急小页面能否仍然很快，大文件也发得出去？",
        "High 约 35 毫秒得到回应；Low 得到链路的五分之一，最长等待不超过 23 秒。没有一份工作白做。",
    ),
    (
        "seda-loop-3-published",
        "SEDA 循环三：论文原规则",
        "同样的循环，按论文的规则会怎样？",
        "被提升的大文件塞满最高级队列：High 要等几秒而不是几毫秒，三分之一被拒绝，上游的工作大半白做。",
    ),
    (
        "seda-loop-3-fifo",
        "SEDA 循环三：先来先服务",
        "同样的循环，大家排成一队呢？",
        "人人都排在 1.1 MB 后面：每秒只有约 30 个回应，本来可以有 450 个。",
    ),
    (
        "starvation",
        "饿死：只有严格优先",
        "紧急请求已超出处理能力，低优先级还剩什么？",
        "整整一分钟，什么也没有：Low 一个请求也没有完成。",
    ),
    (
        "starvation-aged",
        "饿死：加上老化",
        "把五分之一的工作量留给等得太久的请求呢？",
        "Low 始终有请求完成，等待不超过 17 秒的界限。Low 有一半以上在门口被拒绝，因为紧急请求没留下位置；紧急一类为此少了五十分之一。",
    ),
    (
        "early-drop-vs-late-drop",
        "早拒绝",
        "在哪里拒绝，有区别吗？",
        "拒绝的一样多，但都在门口：不会为之后要拒绝的请求白做页面。和另一半比一比浪费掉的时间。",
    ),
    (
        "early-drop-vs-late-drop-late",
        "晚拒绝",
        "如果每个阶段各自拒绝呢？",
        "做好的页面有三分之一在链路前被扔掉。",
    ),
    (
        "retry-storm",
        "重试风暴",
        "人潮已经退去，为什么过载还在继续？",
        "0:30 负载已恢复正常，回应却几乎都太迟：队列里满是没人再等的请求，而那些客户又都再问了一遍。",
    ),
    ("retry-storm-calmed", "平息重试风暴", "如果让队列保持很短呢？", "人潮退去几秒后，回应又都及时了。"),
    (
        "pdd-two-class",
        "延迟一比二",
        "Gold 的客户增加一倍，等待还能是 Silver 的一半吗？",
        "10:00 之前等待之比为 1 : 2，之后约十秒又回到 1 : 2；线程从 38 和 26 变为 49 和 15。换成 stc_paper，比例先颠倒，大半分钟才恢复。",
    ),
    (
        "pdd-open-loop",
        "延迟听其自然",
        "线程划分一直不变，各类的延迟会怎样？",
        "10:00 之前 Gold 和 Silver 等得一样久；之后 Gold 的等待是 Silver 的三倍，正好颠倒。",
    ),
    (
        "pdd-reservation",
        "事先留好配额",
        "配额正合高峰，其他时候还能保持比例吗？",
        "10:00 之后比例是 2；之前 Silver 的等待是 Gold 的九倍多，Gold 用不完自己的那份。",
    ),
    ("pdd-best-effort", "两类排一队", "如果两类排同一条队列呢？", "不论轻重，10:00 前后两类都等得一样久。"),
    (
        "pdd-three-class",
        "延迟一比二比四",
        "一类负载加倍又回落，三类还能保持 1 : 2 : 4 吗？",
        "线程从 30、21、13 变为 43、14、8，再变回来，比例始终不变。",
    ),
    (
        "pdd-operating-point",
        "从轻载到重载",
        "适合重载的控制器，轻载时还能保持比例吗？",
        "stc_lead 在两种负载下都保持 1 : 2。适合重载的 pid 增益在轻载下来回摆动：每 5 秒移动十一个线程，Silver 的等待是 Gold 的三倍多。",
    ),
    (
        "pdd-small-pool",
        "八个线程",
        "多一个或少一个线程，比例就差一半，还能保持多准？",
        "划分来回交替，10:00 前后平均比例都是 1.97。换成 stc_paper，变化之后一直停在 1.75；再加 dither，是 2.05。",
    ),
    (
        "pdd-class-flip",
        "人潮易位",
        "人潮从一类转到另一类，线程多快能跟上？",
        "5:00 之后五秒内划分就翻转过来，Gold 的线程从 7 个变为 28 个，比例也随之恢复。",
    ),
    (
        "wrong-prior",
        "猜错了增益",
        "控制器开始时假定的增益差了四倍，会怎样？",
        "比例照样是 2，而且很快就不比增益猜对时多移动线程。关掉学习也能保持比例，但移动的线程多六倍。",
    ),
    (
        "red5-dnf",
        "四台媒体服务器：聊天、直播、点播",
        "按负载报告分配长会话，比数连接数更好吗？",
        "两大两小四台服务器负载相近，会话的首次应答约三分之一秒。最少连接把会话一视同仁，要两到三倍的时间；只有 100 个用户时没有差别。",
    ),
    (
        "noisy-neighbour",
        "邻居占去三分之二",
        "同一台机器上的别的程序占去三分之二处理器，对所有人有什么影响？",
        "2:00 到 4:40，server-4 只剩三分之一处理器。两次上报之内它的权重就降下来，由其余服务器分担，百分之一的请求最多 0.12 秒；按配置权重则要再多一半。",
    ),
    (
        "slow-backend",
        "六台之一半死不活",
        "一台服务器半死不活却通过健康检查，代价有多大？",
        "2:00 到 4:40，server-2 的速度只有五分之一。它的权重和手上的请求都降下来，百分之一的请求要十分之一秒。轮询会让所有人都等它。",
    ),
    (
        "stale-reports",
        "负载报告卡住了",
        "一台服务器反复报告自己很闲，会怎样？",
        "0:30 起 server-3 的上报卡住，1:00 负载加倍：论文的规则当它最闲，能给的都给它。dnf 会把之后发出的也算进去，谁也察觉不到。",
    ),
    (
        "mixed-generation-servers",
        "新旧机器，两种工作",
        "核多网慢的机器，权重该是多少？",
        "没有哪一个合适：每台服务器对要核心的请求有一个权重，对要带宽的会话另有一个。gen-4 多接前者、少接后者，会话的带宽一点不缺。换成加权最少连接，带宽缺五分之一。",
    ),
    (
        "herd",
        "大家都去最好的三分之一",
        "为什么不把请求都交给最闲的三分之一？",
        "三分之一扛不住：几秒内每台就有几百个在等，下次上报后一窝蜂又涌向别处，其余的却闲着。改为等宽分组，或换成 dnf，队列都在十五个以内。",
    ),
];

/// Title of a scenario in a language: translated if it is a preset's, else as it is.
#[must_use]
pub fn title(title: &str, language: Language) -> &str {
    let preset = tidegate_core::scenario::presets::ALL.iter().find(|p| p.title == title);
    match (language, preset) {
        (Language::Chinese, Some(preset)) => texts(preset, language)[0],
        _ => title,
    }
}

/// Title, question and what to look for of a preset.
#[must_use]
pub fn texts(preset: &Preset, language: Language) -> [&'static str; 3] {
    let chinese = CHINESE.iter().find(|(name, ..)| *name == preset.name);
    match (language, chinese) {
        (Language::Chinese, Some((_, title, question, look_for))) => [title, question, look_for],
        _ => [preset.title, preset.question, preset.look_for],
    }
}

/// Name of the page without requests, which is no scenario of the core: there is nothing in it to simulate.
pub const EMPTY: &str = "empty";

/// The page without requests as a link.
pub const EMPTY_JSON: &str = r#"{"tidegate":1,"classes":[{"name":"Clients","load":{"kind":"poisson","rate_per_s":0}}],"stages":[{"name":"Serve","workers":4,"work":{"at":"servers"}}],"servers":[{"name":"server-1","slots":4}]}"#;

/// A heading, and its cards: each a preset, and what is beside it.
pub type Group = (Word, &'static [&'static [&'static str]]);

/// The gallery from its beginning to its end. Read through, it is a course: each preset's next step is the one after it.
pub static GROUPS: &[Group] = &[
    (
        |w| w.group_papers,
        &[
            &["seda-exp1", "seda-exp1-haboob"],
            &["seda-exp2", "seda-exp2-haboob"],
            &["seda-exp3", "seda-exp3-haboob"],
            &["seda-loop-3", "seda-loop-3-published", "seda-loop-3-fifo", "seda-loop-1", "seda-loop-2"],
            &["pdd-two-class", "pdd-open-loop", "pdd-reservation", "pdd-best-effort"],
            &["pdd-three-class", "pdd-class-flip", "pdd-operating-point", "pdd-small-pool", "wrong-prior"],
            &["red5-dnf", "mixed-generation-servers"],
            &["herd", "stale-reports"],
        ],
    ),
    (
        |w| w.group_overload,
        &[
            &["flash-crowd", "four-classes"],
            &["retry-storm", "retry-storm-calmed"],
            &["starvation", "starvation-aged", "strict-starvation", "fixed-split"],
            &["early-drop-vs-late-drop", "early-drop-vs-late-drop-late"],
            &["slow-backend", "slow-server"],
            &["noisy-neighbour"],
            &["server-down"],
            &["bursty"],
        ],
    ),
    (|w| w.group_basics, &[&["mm1", "mmc"], &["closed-clients"], &["trace-replay", "demo"], &[EMPTY]]),
];

/// The preset after one in the gallery.
#[must_use]
pub fn next(name: &str) -> Option<&'static Preset> {
    let mut names = GROUPS.iter().flat_map(|(_, cards)| *cards).flat_map(|card| *card);
    names.find(|n| **n == name)?;
    presets::get(names.next()?)
}

/// Whether every word typed is somewhere in `text`. Not letter by letter, as in the palette: a card is long enough to
/// have the letters of anything.
#[must_use]
pub fn matches(typed: &str, text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    typed.to_ascii_lowercase().split(' ').all(|word| text.contains(word))
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
        "red5-dnf" | "mixed-generation-servers" => {
            r#"<path d="M20 42h40c24 0 20-26 50-26M60 42c24 0 20 26 50 26" fill="none" stroke="var(--ink-3)" stroke-width="1.6"/><g fill="var(--ink)"><rect x="112" y="8" width="90" height="16" rx="3"/><rect x="112" y="60" width="36" height="16" rx="3"/></g><circle cx="30" cy="42" r="5" fill="var(--k1)"/><path d="M46 37h10v10H46z" fill="var(--k3)"/>"#
        }
        "herd" | "stale-reports" => {
            r#"<g fill="none" stroke="var(--ink-3)" stroke-width="1.6"><rect x="160" y="8" width="50" height="18" rx="3"/><rect x="160" y="33" width="50" height="18" rx="3" stroke="var(--loss)"/><rect x="160" y="58" width="50" height="18" rx="3"/></g><g fill="var(--k1)"><circle cx="50" cy="24" r="4"/><circle cx="64" cy="60" r="4"/><circle cx="84" cy="32" r="4"/><circle cx="96" cy="50" r="4"/><circle cx="112" cy="38" r="4"/><circle cx="124" cy="44" r="4"/><circle cx="138" cy="41" r="4"/><circle cx="149" cy="42" r="4"/></g>"#
        }
        "slow-backend" | "noisy-neighbour" => {
            r#"<g fill="var(--ink)"><rect x="70" y="20" width="18" height="44" rx="3"/><rect x="106" y="20" width="18" height="44" rx="3"/></g><rect x="142" y="20" width="18" height="44" rx="3" fill="none" stroke="var(--ink-3)" stroke-width="1.8"/><path d="M143 52h16v11h-16z" fill="var(--loss)"/>"#
        }
        EMPTY => r#"<path d="M20 42h200" stroke="var(--ink-3)" stroke-width="1.6" stroke-dasharray="3 6"/>"#,
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
    fn every_preset_is_translated() {
        for preset in presets::ALL {
            let english = texts(preset, Language::English);
            let chinese = texts(preset, Language::Chinese);
            assert!(english.iter().zip(chinese).all(|(e, c)| *e != c), "{} has no Chinese", preset.name);
            assert_eq!(super::title(preset.title, Language::Chinese), chinese[0]);
            assert_eq!(super::title(preset.title, Language::English), preset.title);
        }
        for (name, ..) in CHINESE {
            assert!(presets::get(name).is_some(), "{name} is no preset any more");
        }
    }

    #[test]
    fn every_preset_is_in_the_gallery_once_and_leads_on() {
        let all: Vec<&str> = GROUPS.iter().flat_map(|(_, cards)| *cards).flat_map(|c| *c).copied().collect();
        for preset in presets::ALL {
            let times = all.iter().filter(|name| **name == preset.name).count();
            assert_eq!(times, 1, "{} is {times} times in the gallery", preset.name);
        }
        assert_eq!(all.len(), presets::ALL.len() + 1, "and the empty page");
        let cards: usize = GROUPS.iter().map(|(_, cards)| cards.len()).sum();
        assert!((15..=20).contains(&cards), "{cards} cards");
        assert_eq!(next("seda-exp1").map(|p| p.name), Some("seda-exp1-haboob"));
        assert_eq!(next("seda-exp1-haboob").map(|p| p.name), Some("seda-exp2"));
        assert_eq!(next("demo"), None, "nothing follows but the empty page");
    }

    #[test]
    fn a_card_is_found_by_whole_words_of_it() {
        let text = "Retry storm Why does the overload go on when the crowd has left?";
        assert!(matches("", text) && matches("crowd retry", text) && matches("OVERLOAD ", text));
        assert!(!matches("rtry", text) && !matches("retry herd", text));
    }

    #[test]
    fn the_empty_page_is_a_scenario_in_which_nobody_comes() {
        let parsed = tidegate_core::scenario::parse_json(EMPTY_JSON).expect("reads");
        let scenario = parsed.check().expect("follows the rules");
        assert_eq!(scenario.estimated_events(), 0.0);
        assert!(presets::get(EMPTY).is_none());
    }
}
