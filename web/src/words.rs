//! Every word of the page, in English and Chinese. A string that one language lacks does not compile.
//!
//! Figures go in through `{0}`, `{1}`, …, so that each language puts them where it wants.

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// Value for `lang` attributes.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// Value in links and storage.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The language a tag such as `zh-CN` or `en` asks for.
    #[must_use]
    pub fn of(tag: &str) -> Self {
        if tag.to_ascii_lowercase().starts_with("zh") { Self::Chinese } else { Self::English }
    }
}

/// Picks a string out of the words of a language.
pub type Word = fn(&Words) -> &'static str;

/// `text` with `{0}`, `{1}`, … replaced.
#[must_use]
pub fn fill(text: &str, values: &[&str]) -> String {
    let mut out = text.to_owned();
    for (i, value) in values.iter().enumerate() {
        out = out.replace(&format!("{{{i}}}"), value);
    }
    out
}

macro_rules! words {
    ($name:ident, $get:ident; $($key:ident: $english:literal, $chinese:literal;)*) => {
        /// Words of one language.
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(#[doc = $english] pub $key: &'static str,)*
        }

        /// English.
        pub static ENGLISH: $name = $name { $($key: $english,)* };
        /// Simplified Chinese.
        pub static CHINESE: $name = $name { $($key: $chinese,)* };

        impl $crate::words::Language {
            /// Words of the language.
            #[must_use]
            pub fn $get(self) -> &'static $name {
                match self {
                    Self::English => &ENGLISH,
                    Self::Chinese => &CHINESE,
                }
            }
        }

        #[cfg(test)]
        pub(super) const ALL: &[(&str, &str, &str)] = &[$((stringify!($key), $english, $chinese),)*];
    };
}

pub mod compare;
pub mod handover;
pub mod record;
pub mod replay;
pub mod text;
pub mod tour;

words! {
    Words, words;

    // The shell.
    skip: "Skip to the running system", "跳到运行画面";
    home: "Tidegate, start page", "Tidegate 首页";
    mode: "Mode", "模式";
    explore: "Explore", "探索";
    live: "Live", "实况";
    other_language: "中文", "EN";
    switch_language: "切换到中文", "Switch to English";
    switch_theme: "Switch theme", "切换主题";
    theme_now: "Theme: {0}", "主题：{0}";
    theme_system: "as the system", "跟随系统";
    theme_light: "light", "浅色";
    theme_dark: "dark", "深色";
    keyboard: "Keyboard", "键盘";
    keyboard_help: "Keyboard shortcuts", "键盘快捷键";
    run_for_real: "Run on a real server", "在真实服务器上运行";
    share: "Share", "分享";
    close: "Close", "关闭";
    copy: "Copy", "复制";
    copied: "Copied", "已复制";
    not_copied: "The browser did not let us copy. Select the text instead.", "浏览器不允许复制，请手动选择文本。";
    sections: "Sections", "栏目";
    tab_system: "System", "系统";
    tab_edit: "Edit", "编辑";
    size_class: "{0} class", "{0} 类请求";
    size_classes: "{0} classes", "{0} 类请求";
    size_server: ", {0} server", "，{0} 台服务器";
    size_servers: ", {0} servers", "，{0} 台服务器";
    untitled: "Untitled", "未命名";

    // The story.
    demand_over: "Demand is {0}× what the {1} can serve.", "需求是{1}处理能力的 {0} 倍。";
    demand_fits: "Room for everyone: demand is {0} of capacity.", "还有余量：需求是处理能力的 {0}。";
    demand_tight: "Just enough: demand is {0} of capacity.", "刚好够用：需求是处理能力的 {0}。";
    demand_none: "No requests are arriving.", "没有请求到来。";
    demand_closed: "{0} of the capacity is in use.", "处理能力已用 {0}。";
    demand_live: "{0} requests a second arrive.", "每秒到达 {0} 个请求。";
    all_down: "No server can take requests.", "没有服务器能接收请求。";
    workers_word: "workers", "工作线程";
    servers_word: "servers", "服务器";
    fact_down: "{0} is down.", "{0} 已下线。";
    fact_down_for: "{0} has been down for {1}.", "{0} 已下线 {1}。";
    fact_starved: "{0} gets nothing through.", "{0} 完全得不到服务。";
    fact_starved_many: "{0} get nothing through.", "{0} 完全得不到服务。";
    fact_ratio: "{0} waits {1}× as long as {2} (target {3}×).", "{0} 的等待是 {2} 的 {1} 倍（目标 {3} 倍）。";
    fact_ratio_many: "{0} wait {1}× as long as {2} (target {3}×).", "{0} 的等待是 {2} 的 {1} 倍（目标 {3} 倍）。";
    fact_takes: "{0} takes {1} of the loss.", "{0} 承担 {1} 的损失。";
    fact_takes_many: "{0} take {1} of the loss.", "{0} 承担 {1} 的损失。";
    fact_loss: "{0} of requests are turned away.", "{0} 的请求被拒绝。";
    fact_wait: "{0} waits {1}.", "{0} 等待 {1}。";
    fact_wait_many: "{0} wait {1}.", "{0} 等待 {1}。";
    fact_no_wait: "Nobody has to wait.", "无人需要等待。";
    not_started: "The run has not begun.", "运行尚未开始。";
    reproduced: "Reproduced exactly", "完全复现";
    reproduced_why: "This run has the very hash that the link carries.", "本次运行的散列与链接中的一致。";
    differs: "Differs from when it was shared", "与分享时不同";
    differs_why: "Hash {0} in the link, {1} here (engine {2}, now {3}).", "链接中散列为 {0}，此处为 {1}（引擎 {2}，现为 {3}）。";
    verifying: "Checking the link's hash…", "正在核对链接散列……";
    run_ended: "The run has ended.", "运行已结束。";

    // The picture.
    picture: "Running system", "运行中的系统";
    clients: "Clients", "客户端";
    offered: "{0}/s offered", "到达 {0}/s";
    wait_target: "wait target {0}×", "等待目标 {0}×";
    deadline: "within {0}", "期限 {0}";
    classifier: "Classifier", "分类";
    by_path: "by path", "按路径";
    by_header: "by header", "按请求头";
    by_client: "by client", "按客户";
    by_host: "by host", "按主机";
    by_rule: "by rule", "按规则";
    as_written: "as written", "按设定";
    anything_else: "any other", "其余";
    stage: "{0} stage", "{0} 阶段";
    waiting: "{0} waiting", "{0} 在等";
    policy_tail_drop: "Tail drop", "队尾丢弃";
    turned_away: "Turned away {0}/s", "已拒绝 {0}/s";
    nobody_away: "No one turned away", "无人被拒";
    workers: "Workers", "工作线程";
    workers_shared: "one pool", "共享";
    workers_split: "fixed split", "固定划分";
    order_strict: "Strict priority", "严格优先";
    order_fifo: "First come", "先来先服务";
    threads: "threads", "线程";
    wait: "wait", "等待";
    busy_of: "{0} of {1} busy", "{1} 中 {0} 个忙";
    balancer: "Balancer", "均衡";
    round_robin: "Round robin", "轮询";
    least_connections: "Fewest in flight", "最少连接";
    weighted_round_robin: "Weighted round robin", "加权轮询";
    weighted_least_connections: "Fewest by weight", "加权最少连接";
    source_hash: "By client", "按客户端哈希";
    destination_hash: "By target", "按目标哈希";
    consistent_hash: "Consistent hash", "一致性哈希";
    random: "Random by weight", "加权随机";
    power_of_two: "Best of a few", "随机选优";
    join_shortest_queue: "Shortest queue", "最短队列";
    peak_ewma: "Peak latency", "峰值时延";
    least_time: "Least time", "最短时间";
    dnf_published: "Feedback, as published", "反馈，原论文";
    dnf: "Feedback", "动态反馈";
    servers: "Servers", "服务器";
    servers_up: "{0} up", "{0} 台在线";
    servers_some_down: "{0}, {1} down", "{0} 台，{1} 台下线";
    in_flight: "{0} in flight", "{0} 处理中";
    server_down: "down", "已下线";
    per_second: "/s", "/s";
    legend_lane: "One mark is {0} in a lane.", "一个标记：通道中 {0} 个。";
    legend_marks: "One mark is {0} in a lane, {1} in flight.", "一个标记：通道中 {0} 个，途中 {1} 个。";
    column_class: "Class", "类";
    column_waiting: "Waiting", "在等";
    column_wait: "Wait", "等待";
    column_away: "Turned away per second", "每秒拒绝";
    column_served: "Served per second", "每秒完成";
    say_stage: "{0} stage, {1}, {2} waiting, {3} a second turned away", "阶段 {0}，{1}，{2} 个在等，每秒拒绝 {3} 个";
    say_workers: "Workers of {0}, {1} of {2} busy", "{0} 的工作线程，{2} 个中 {1} 个忙";
    say_clients: "Clients, {0} requests a second", "客户端，每秒 {0} 个请求";
    say_balancer: "Balancer, {0}", "均衡，{0}";
    say_servers: "Servers, {0}", "服务器，{0}";

    // Time.
    timeline: "Timeline", "时间轴";
    run_controls: "Run controls", "运行控制";
    restart: "Back to start (R)", "回到开头 (R)";
    step_back: "Step back (,)", "后退一步 (,)";
    play: "Play (Space)", "播放 (空格)";
    pause: "Pause (Space)", "暂停 (空格)";
    step: "Step forward (.)", "前进一步 (.)";
    step_event: "Step one event (;)", "前进一个事件 (;)";
    step_event_back: "Back one event (:)", "后退一个事件 (:)";
    step_decision: "To the next decision (')", "到下一个决策 (')";
    as_fast: "max", "全速";
    speed: "Speed", "速度";
    speed_typed: "Speed, typed", "速度，输入";
    reaches: "reaches {0}", "实际 {0}";
    seed: "Seed", "种子";
    new_seed: "New seed (N)", "新种子 (N)";
    add_event: "Event", "事件";
    add_event_here: "Add an event here (E)", "在此处加事件 (E)";
    time: "Time", "时间";
    computing: "Computing {0}", "正在计算 {0}";
    dotted: "dotted: before your edit", "点线：修改之前";
    whole_run: "{0} events", "{0} 个事件";
    following: "Following", "跟随中";
    charts: "History charts", "历史图表";
    track_goodput: "Goodput", "有效吞吐";
    track_wait: "Wait", "等待";
    track_queue: "Queue", "队列";
    track_busy: "Threads", "线程";
    track_ratio: "Wait ratio", "等待比";
    ratio_unit: "/ target", "/ 目标";
    wanted: "of {0}", "目标 {0}";
    below_overload: "below overload: nothing to enforce", "未过载，无需按比例";
    track_average: "Average", "平均";
    at_most: "p ≤ {0}", "p ≤ {0}";
    track_servers: "In flight", "处理中";
    unit_requests: "requests", "个请求";
    lost: "{0} lost", "损失 {0}";
    flag_go: "{0} at {1}, go there", "{1} {0}，跳到此处";
    flag_load: "Load ×{0}", "流量 ×{0}";
    flag_load_of: "{0} ×{1}", "{0} ×{1}";
    flag_service: "work of {0} ×{1}", "{0}的工作量 ×{1}";
    flag_down: "{0} down", "{0} 下线";
    flag_up: "{0} back", "{0} 恢复";
    flag_speed: "{0} at {1}× speed", "{0} 速度 {1}×";

    // The editor.
    editor: "Scenario editor", "场景编辑器";
    traffic: "Traffic", "流量";
    capacity_times: "{0}× capacity", "{0}× 处理能力";
    events: "Events", "事件";
    events_none: "none", "无";
    events_some: "{0} planned", "已排 {0} 个";
    run: "Run", "运行";
    edits_fork: "Edits fork the run at the playhead.", "修改从播放头处起生效，另开一支。";
    fold_edits: "Make these the start values", "以此作为起始值";
    whole_run_edit: "This changes the whole run, from its start.", "这一改动影响整个运行，已从头开始。";
    flag_edit: "You: {0}", "你：{0}";
    flag_edit_more: "You: {0}, and {1} more", "你：{0}，另 {1} 处";
    undo: "Undo", "撤销";
    redo: "Redo", "重做";
    load_kind: "Arrivals", "到达方式";
    load_poisson: "Poisson", "泊松";
    load_even: "Evenly spaced", "等间隔";
    load_bursty: "Bursty", "突发";
    load_closed: "Closed clients", "封闭客户";
    load_trace: "From a log", "来自日志";
    rate: "rate", "速率";
    clients_count: "clients", "客户数";
    think: "think time", "思考时间";
    service: "service", "服务时间";
    law: "law", "分布";
    law_constant: "constant", "恒定";
    law_exponential: "exponential", "指数";
    law_uniform: "uniform", "均匀";
    law_erlang: "Erlang", "爱尔朗";
    law_hyper: "hyperexponential", "超指数";
    law_lognormal: "lognormal", "对数正态";
    law_pareto: "Pareto", "帕累托";
    priority: "priority", "优先级";
    priority_help: "Larger goes first.", "数值大者优先。";
    delay_weight: "wait target", "等待目标";
    class_name: "name", "名称";
    class_rule: "path", "路径";
    log_label: "label", "标签";
    add_class: "Add a class", "添加一类";
    remove: "Remove {0}", "删除 {0}";
    worker_count: "workers", "工作线程";
    queue_limit: "queue limit", "队列上限";
    limit_per_level: "each level", "每级";
    limit_per_stage: "whole stage", "整个阶段";
    limit_counts: "limit counts", "上限计算";
    order: "Who goes first", "谁先";
    pool: "Workers are", "工作线程";
    own_work: "work here", "此处耗时";
    to_servers: "Hands requests to the servers.", "把请求交给服务器。";
    policy: "Policy", "策略";
    slots: "works on at once", "同时处理";
    server_speed: "speed", "速度";
    most_in_flight: "sends at most", "最多发送";
    no_limit: "no limit", "不限";
    add_server: "Add a server", "添加服务器";
    event_at: "at", "时刻";
    event_what: "what", "事件";
    event_load: "load changes", "流量变化";
    event_down: "server down", "服务器下线";
    event_up: "server back", "服务器恢复";
    event_speed: "server speed", "服务器速度";
    event_service: "work changes", "工作量变化";
    event_all: "all classes", "所有类";
    event_factor: "times", "倍数";
    event_class: "class", "类";
    event_server: "server", "服务器";
    add_an_event: "Add an event", "添加事件";
    horizon: "length", "时长";
    title: "title", "标题";
    not_a_number: "a number is wanted here", "此处需要数字";
    still_running: "The last valid value keeps running.", "仍按上一个有效值运行。";
    error_rule: "must be {0}", "必须满足：{0}";
    error_elsewhere: "{0} must be {1}", "{0} 必须满足：{1}";

    // Policies and their numbers.
    who_may_wait: "Who may wait", "谁可以排队";
    policy_work_red: "Work RED", "工作量 RED";
    policy_priority_red: "Priority RED", "优先级 RED";
    policy_red: "RED", "RED";
    policy_pdt_red: "Moving RED", "动态阈值 RED";
    policy_wred: "WRED", "WRED";
    policy_codel: "CoDel", "CoDel";
    policy_pie: "PIE", "PIE";
    policy_adaptive_rate: "Adaptive rate", "自适应限速";
    policy_enqueue_rate: "Rate limit", "固定限速";
    policy_length_threshold: "Threshold", "队长阈值";
    about_tail_drop: "Turns requests away once the queue is full.", "队列满了才拒绝。";
    about_work_red: "Priority RED on seconds of work, asked once at the entry, so nobody is turned away halfway. Recommended.", "按积压工作量（秒）算的优先级 RED，只在入口判一次，不会做到一半再拒绝。推荐使用。";
    about_priority_red: "RED for each level by everyone who waits there and above it: the least urgent are turned away first.", "每一级按本级及更高级的排队总数各算一次 RED，最不急的先被拒绝。";
    about_red: "Turns requests away at random, the more the longer the queue is on average.", "按平均队长随机拒绝，队列越长，拒绝得越多。";
    about_pdt_red: "Priority RED whose thresholds rise with the level and with the free room.", "优先级 RED，级别越高、剩余空间越大，阈值越高。";
    about_wred: "A RED curve of its own for each level.", "每一级各用一条 RED 曲线。";
    about_codel: "Turns away at the head of the queue while waits stay above a target.", "等待时间持续超过目标时，从队首拒绝。";
    about_pie: "Steers a drop chance by the estimated wait and its trend.", "按估计的等待时间及其走势调节拒绝概率。";
    about_adaptive_rate: "Lets in as many a second as the response time allows.", "响应时间允许多少，每秒就放进多少。";
    about_enqueue_rate: "Lets in so many a second, with room for a burst.", "每秒放进固定数量，允许短时突发。";
    about_length_threshold: "Refuses above a queue length, whether a worker is free or not, as stock SEDA does.", "队列超过阈值即拒绝，不看有没有空闲线程，即 SEDA 原来的做法。";
    knob_min: "min", "下限 min";
    knob_max: "max", "上限 max";
    max_chance: "max chance", "最大概率";
    weight: "averaging", "平均权重";
    weight_help: "Weight of the newest length in the running average.", "最新队长在滑动平均中的权重。";
    gentle: "gentle", "平缓上升";
    gentle_help: "From max to twice max the chance rises to 1 instead of jumping there.", "从 max 到两倍 max，概率逐渐升到 1，而不是直接跳到 1。";
    spacing: "drops fall", "拒绝间隔";
    spacing_help: "How refusals are spread over arrivals.", "拒绝在到达请求中的分布方式。";
    spacing_bernoulli: "by a coin each", "各自独立";
    spacing_uniform: "evenly", "均匀";
    spacing_wait: "evenly, apart", "均匀且隔开";
    adapt: "max chance adapts", "最大概率自适应";
    adapting_now: "adapting, now {0}", "自适应中，当前 {0}";
    adapt_none: "no", "否";
    adapt_counters: "by counters", "按计数";
    adapt_feng: "Feng", "Feng 规则";
    adapt_floyd: "Floyd", "Floyd 规则";
    factor: "factor", "每次倍数";
    repeat: "after", "触发次数";
    adapt_per: "one max chance for", "最大概率范围";
    adapt_per_help: "Each level may have a max chance of its own.", "可以让每一级各有自己的最大概率。";
    update_per: "arrivals move", "到达更新范围";
    update_per_help: "The averages of all levels, which keeps them in order, or of the arrival's own.", "更新所有级的平均值（能保持各级顺序），或只更新请求所在的级。";
    on_departure: "departures count", "离队也计入";
    on_departure_help: "Averages also move when a request leaves the queue.", "请求离开队列时也更新平均值。";
    room_gain: "room gain", "空间系数";
    room_gain_help: "What each free place adds to the thresholds, a level.", "每个空位按级别给阈值加多少。";
    curve: "Level {0}", "第 {0} 级";
    average_counts: "average counts", "平均计入";
    average_counts_help: "Who is counted in a level's average.", "某一级的平均值把哪些请求算在内。";
    counts_all: "everybody", "全部";
    counts_above: "level and above", "本级及以上";
    counts_level: "the level", "仅本级";
    target_wait: "wanted wait", "目标等待";
    interval: "may last", "容忍时长";
    interval_help: "How long waits may stay above the target.", "等待时间超过目标可以持续多久。";
    burst_passes: "burst allowance", "突发余量";
    burst_passes_help: "A burst this long passes untouched.", "短于此时长的突发不受限制。";
    period: "period", "调整周期";
    tau: "averaging time", "平均时间常数";
    tau_help: "Time constant of the running average.", "滑动平均的时间常数。";
    hard: "shut at", "全拒门槛";
    hard_help: "Everybody is turned away while the work present is this many times max.", "当前积压达到 max 的这么多倍时，一律拒绝。";
    target_response: "wanted response", "目标响应";
    target_response_help: "At the 90th percentile.", "第 90 百分位。";
    rate_rule: "rate is found", "限速规则";
    rule_direct: "step by step", "逐步增减";
    rule_multiclass: "class by class", "逐类调整";
    rule_pid: "by PID", "PID 控制";
    rule_mm1: "as in M/M/1", "M/M/1 模型";
    depth: "burst", "突发容量";
    depth_help: "Tokens the bucket holds.", "令牌桶的容量。";
    threshold: "threshold", "阈值";
    order_fair: "Fair shares", "加权公平";
    order_wtp: "Wait over target (WTP)", "等待与目标之比 (WTP)";
    order_pad: "Average over target (PAD)", "平均延迟之比 (PAD)";
    order_hpd: "Hybrid (HPD)", "混合比例 (HPD)";
    order_deadline: "Earliest deadline", "最早截止优先";
    order_lifo: "Adaptive LIFO", "自适应后进先出";
    ageing: "ageing", "老化";
    ageing_none: "none", "无";
    ageing_promote: "promotion", "逐级提升";
    ageing_share: "a share", "保底份额";
    about_promote: "After so long in a level a request moves to the tail of the next.", "在一级等满这么久，就移到上一级的队尾。";
    about_share: "Who has waited too long gets a share of the work, however much urgent work there is.", "等得太久的请求分得一份工作量，不管有多少紧急请求。";
    promote_after: "moves up after", "等多久提升";
    overdue_after: "overdue after", "每级容许等待";
    overdue_share: "their share", "所占份额";
    pool_size: "number of workers", "线程数控制";
    pool_fixed: "fixed", "固定";
    pool_threads: "SEDA's controller", "SEDA 线程池控制";
    pool_aimd: "AIMD", "加增乘减 AIMD";
    pool_gradient: "gradient", "梯度法";
    about_threads: "One more while the queue is long, one less after it was idle.", "队列长就加一个线程，空闲久了就减一个。";
    about_aimd: "One more while answers come in time, a tenth fewer when they do not.", "按时完成就加一，超时就减一成。";
    about_gradient: "Follows the least time in work over the present one.", "跟随最短处理时间与当前处理时间之比。";
    fewest: "fewest", "最少";
    most: "most", "最多";
    grow_above: "grows above", "超过则增加";
    idle_goes: "idle goes after", "空闲多久减少";
    too_long: "too long is", "超时标准";
    tolerance: "tolerance", "容差";
    tolerance_help: "Time in work over the least seen that is still no sign of a queue.", "处理时间与最短值之比在此以内，不算排队。";
    batches: "a worker takes", "每次取";
    batch_one: "one", "一个";
    batch_fixed: "a batch", "固定一批";
    batch_adaptive: "as many as help", "自适应一批";
    about_batch_adaptive: "The smallest batch that keeps the throughput.", "保持吞吐量的最小批。";
    batch_size: "at most", "批大小";
    batch_work: "work per batch", "每批开销";
    starts: "starts at most", "启动上限";
    off_at_zero: "0 stands for no limit.", "0 表示不限。";
    expired: "past deadline", "超过期限的";
    expired_shed: "turned away", "拒绝";
    expired_serve: "served late", "照常处理";
    link_rate: "link carries", "链路速率";
    size: "size", "大小";
    size_unknown: "not known", "未知";
    size_least: "least", "最小";
    size_most: "most", "最大";
    size_mean: "mean size", "平均大小";
    size_ratio: "most over least", "最大与最小之比";
    deadline_knob: "deadline", "期限";
    fair_share: "share", "份额";
    fair_share_help: "Of the work, under fair shares.", "用于加权公平时分得的工作量。";
    retries: "asks again", "重试次数";
    retries_help: "Times a client asks again after it was turned away.", "被拒绝后客户端再次请求的次数。";
    retry_after: "after", "重试间隔";
    dynamic_priority: "How a level is made", "级别如何得出";
    per_stage: "up a level each stage", "每过一阶段升一级";
    per_stage_help: "Level = priority + stages passed + correction for size.", "级别 = 优先级 + 已过阶段数 + 大小修正。";
    size_limits: "smaller than", "小于";
    size_limits_help: "A request is raised by a level for each of these sizes it is smaller than.", "请求每小于其中一个大小，就升一级。";
    size_in_queue: "size counts in the queue", "大小也影响排队";
    levels: "levels", "级数";
    levels_help: "0: as many as the sum can reach.", "0 表示按需要自动确定。";
    clamp: "cut at the top level", "超出归入最高级";
    no: "no", "否";
    yes: "yes", "是";
    more_numbers: "{0} more numbers", "另有 {0} 项";
    more_controls: "Ageing, workers, batches", "老化、线程数、批处理";

    // More about the numbers.
    mean: "mean", "均值";
    cv: "spread cv", "离散系数 cv";
    alpha: "tail α", "尾指数 α";
    erlang_k: "stages k", "阶数 k";
    stops_after: "stops after", "多少个后停止";
    phase: "Phase {0}", "第 {0} 段";
    lasts: "lasts", "持续";
    rule_host: "host", "主机";
    rule_method: "method", "方法";
    rule_header: "header", "请求头";
    rule_value: "header value", "请求头的值";
    rule_client: "client", "客户端地址";
    rule_from: "believed from", "采信来源";
    from_trusted: "trusted peers", "受信任的一方";
    from_anyone: "anyone", "任何人";
    rule: "Rule {0}", "规则 {0}";
    all_rules: "all {0} rules", "全部 {0} 条规则";
    rules_help: "Any one suffices; within one, all conditions must hold.", "满足任意一条即可；一条之内，条件须全部成立。";
    rule_header_help: "Lower case. It must be there, and match the value if one is given.", "小写。须有此请求头；若填了值，还须匹配。";
    work: "what it does", "做什么";
    work_stage: "works itself", "自己处理";
    work_link: "sends over a link", "经链路发送";
    work_servers: "asks the servers", "交给服务器";
    run_mode: "figures are", "统计方式";
    mode_steady: "long-run", "长期平均";
    mode_transient: "of this stretch", "就看这一段";
    warmup: "warm-up", "预热期";
    warmup_help: "Left out of the figures. 0: a tenth of a long run, else nothing.", "不计入统计。0 表示自动：长期平均取十分之一，否则不去掉。";
    gateways: "gateways", "网关数";
    gateways_help: "As many like this one share the servers; each knows only what it sent itself.", "共有这么多个同样的网关使用这些服务器，各自只知道自己发出的请求。";
    about: "about", "说明";
    pid_p_help: "Answer to the error itself.", "对误差本身的反应。";
    pid_i_help: "Answer to the error added up.", "对累计误差的反应。";
    pid_d_help: "Answer to the change of the error.", "对误差变化的反应。";
    slider: "Slider: {0} to {1}.", "滑块：{0} 至 {1}。";
    queue_limit_help: "Requests that may wait; the next one is turned away.", "最多有多少请求在等，再来的就拒绝。";
    limit_counts_help: "Level by level, the low cannot shut the door on the high.", "按级计算时，低级不会把高级挤在门外。";
    knob_min_help: "Below this average nobody is turned away.", "平均值低于它，一个也不拒绝。";
    knob_max_help: "From this average on everybody is turned away.", "平均值到了它，全部拒绝。";
    max_chance_help: "Chance of being turned away just below max.", "快到上限时的拒绝概率。";
    adapt_help: "Whether max chance follows the load by itself.", "最大概率是否自动跟随负载。";
    factor_help: "Each change multiplies or divides max chance by this.", "每次调整把最大概率乘以或除以它。";
    repeat_help: "Arrivals beyond a threshold that make one change.", "多少个到达越过阈值才调整一次。";
    curve_help: "Each level has a curve; the last stands for all above it.", "每级一条曲线，最后一条也用于更高的级。";
    target_wait_help: "The wait it steers towards.", "要把等待控制到多少。";
    period_help: "Time between two adjustments.", "两次调整之间的时间。";
    rate_rule_help: "How the rate follows the response time.", "速率怎样跟随响应时间。";
    threshold_help: "Requests waiting above which new ones are turned away.", "在等的请求超过它，新来的就拒绝。";
    wanted_of_one_help: "Of a class with wait target 1; the others in proportion.", "等待目标为 1 的类等多久，其余各类按比例。";
    gain_help: "How strongly an error is answered.", "对误差反应的强弱。";
    forgetting_help: "What an observation still counts one period later.", "一个观测到下个周期还算多少。";
    design_help: "How the controller follows from the model.", "由模型得出控制器的方法。";
    warm_up_help: "It does not steer before that.", "在此之前不调节。";
    a_terms_help: "How many of its own past values the model looks at.", "模型回看多少个以往的输出。";
    b_terms_help: "How many past splits the model looks at.", "模型回看多少次以往的划分。";
    dead_time_help: "Periods until a change first shows.", "改动要几个周期才开始见效。";
    zero_help: "Of the controller; larger is calmer.", "控制器的零点，越大越平缓。";
    think_help: "Pause between an answer and the next request.", "得到回应到再次请求之间的停顿。";
    trim_help: "How strongly measured waits correct the model; 0: not at all.", "实测等待对模型的修正力度，0 表示不修正。";
    split_by_help: "What moves workers from class to class.", "线程按什么在各类之间移动。";
    order_help: "Which of those waiting a free worker takes.", "线程空出来时，先取哪一个。";
    ageing_help: "How those who wait long get ahead.", "等久的请求怎样提前。";
    promote_after_help: "Time in a level before a request moves up.", "在一级等多久就升一级。";
    overdue_after_help: "Wait allowed for each level above its own.", "上面每有一级，容许多等这么久。";
    overdue_share_help: "Part of the work that goes to the overdue.", "留给超时等待者的工作量比例。";
    pool_size_help: "Whether the number of workers follows the load.", "线程数是否跟随负载。";
    fewest_help: "There are never fewer.", "不会再少。";
    most_help: "There are never more.", "不会再多。";
    grow_above_help: "A queue longer than this gets one more worker.", "队列超过它就加一个线程。";
    idle_goes_help: "A worker idle for so long goes.", "线程空闲这么久就撤掉。";
    too_long_help: "Time in work that counts as late.", "处理超过这么久就算超时。";
    batches_help: "Requests a worker takes in one go.", "一个线程一次取几个请求。";
    batch_size_help: "As many as wait, up to this.", "有多少取多少，不超过它。";
    starts_help: "Requests begun a second, evenly spaced; 0: no limit.", "每秒最多开始多少个，均匀间隔；0 表示不限。";
    expired_help: "What becomes of a request whose deadline passes in the queue.", "排队时过了期限的请求怎么办。";
    own_work_help: "Time a worker needs for one request.", "一个线程处理一个请求的时间。";
    batch_work_help: "Time a worker needs besides for each batch.", "每批另需的时间。";
    link_rate_help: "Its workers share it equally.", "由各线程平分。";
    work_help: "What a worker of this stage does with a request.", "本阶段的线程拿请求做什么。";
    mean_help: "Mean of the law, not its median.", "分布的均值，不是中位数。";
    cv_help: "Standard deviation over mean; 1 is as wide as exponential.", "标准差与均值之比；1 与指数分布同样分散。";
    alpha_help: "Tail index: the smaller, the rarer and larger the largest.", "尾指数：越小，大者越少也越大。";
    size_ratio_help: "Largest over smallest value that can occur.", "可能出现的最大值与最小值之比。";
    erlang_k_help: "Sum of k exponentials: the larger, the more regular.", "k 个指数之和：越大越规则。";
    size_least_help: "Nothing is below.", "不会更小。";
    size_most_help: "Nothing is above.", "不会更大。";
    rate_help: "Mean number a second.", "平均每秒个数。";
    phase_help: "Rate while a phase lasts; phases follow each other in a ring.", "各时段的速率；时段依次轮换。";
    lasts_help: "Mean length; each length is exponential.", "平均时长，每次按指数分布。";
    clients_count_help: "Each waits for its answer before it asks again.", "每个客户等到回应才再次请求。";
    log_label_help: "Rows of the log with this label; * takes the rest.", "取日志中带此标签的行，* 取其余。";
    class_rule_help: "* within a segment, ** across segments.", "* 匹配一段之内，** 可跨段。";
    rule_host_help: "Without port; *.example.org takes every subdomain.", "不带端口；*.example.org 包括所有子域。";
    rule_method_help: "In capitals.", "大写。";
    rule_value_help: "Of that header; * takes any text.", "该请求头的值，* 匹配任意文字。";
    rule_client_help: "An address, or a block of them.", "一个地址，或一段地址。";
    rule_from_help: "Headers of strangers count for nothing unless anyone may name a class.", "不许任何人自报类别时，陌生来源的请求头不作数。";
    size_help: "Bytes that a request asks for, if known.", "请求的内容有多大（如果知道）。";
    size_mean_help: "Mean of the law, not its median.", "分布的均值，不是中位数。";
    retry_after_help: "Pause before it asks again.", "再次请求前等多久。";
    service_help: "Time one request takes a server of speed 1.", "速度为 1 的服务器处理一个请求的时间。";
    kind_help: "A session takes no slot; it holds its demand until it ends.", "会话不占位置，结束前一直占用各项资源。";
    sources_help: "For balancers that go by who asks.", "供按客户端分配的均衡策略使用。";
    targets_help: "For balancers that go by what is asked.", "供按目标分配的均衡策略使用。";
    server_weight_help: "What balancers with weights make of it; 0: nothing new.", "供加权均衡使用；0 表示不再接新请求。";
    discipline_help: "So many at once, the others wait; or all at once on shared cores.", "限定个数，其余等待；或全部同时进行，共享核心。";
    dead_band_help: "A distance this small is taken for none.", "差距小于它就当作没有。";
    drawn_help: "The emptiest of so many drawn at random gets it.", "随机抽这么多台，交给最空的。";
    weights_from_help: "Set here, or made of what servers report.", "用配置值，或由上报得出。";
    hash_by_help: "What must meet the same server again.", "什么相同就总到同一台。";
    hash_table_help: "How the hash finds a server.", "哈希怎样找到服务器。";
    largest_step_help: "A report changes a weight by no more than this part.", "一次上报最多把权重改变这个比例。";
    group_width_help: "How much more than the least may be in flight within the first group.", "第一组内，手上请求数最多比最少者高多少。";
    weight_min_help: "No weight falls below.", "权重不会更低。";
    weight_max_help: "No weight rises above.", "权重不会更高。";
    loads_session_help: "As above, for sessions.", "同上，用于会话。";
    load_target_help: "Load that leaves a weight as it is.", "负载等于它时，权重不变。";
    groups_help: "By weight; the heaviest gets everything.", "按权重分组，最重的一组接全部请求。";
    group_by_help: "How servers are sorted into groups.", "服务器怎样归组。";
    turns_weighted_help: "Within the group; otherwise all alike.", "组内按权重轮流，否则一视同仁。";
    weight_initial_help: "Weights before the first report.", "第一次上报前的权重。";
    weight_base_help: "Mean weight at the beginning.", "开始时的平均权重。";
    least_change_help: "A smaller change is not made.", "小于它的变化不执行。";
    damping_help: "Part of each change that is not made.", "每次变化中不执行的部分。";
    report_period_help: "Weights know nothing newer than this.", "权重看到的情况最多晚这么久。";
    load_clear_help: "Below this it takes work again.", "低于它才重新接请求。";
    silence_help: "A server that reported and stops gets nothing more after this.", "曾经上报的服务器，停报这么久后不再接新请求。";
    eject_for_help: "The first time; each further time as much longer.", "第一次的时长，以后每次再加这么多。";
    eject_most_help: "Part of the servers that may be ejected at once.", "同时最多剔除多大比例的服务器。";
    event_factor_help: "Of what is written; 1 restores it.", "相对于设定值；1 即恢复。";
    flap_period_help: "Down for half of it.", "其中一半时间下线。";
    flap_times_help: "How many times it goes down.", "下线多少次。";
    reports_help: "Stuck: they repeat the last one.", "卡住：一直重复最后一次。";
    size_in_queue_help: "Not only for joining the queue, but also for the place in it.", "不只影响能否进队，也影响队中位置。";
    clamp_help: "Whatever is above the top level waits in the top level.", "超过最高级的，都排在最高级。";
    run_mode_help: "Long-run means without the warm-up, or this very stretch of time.", "去掉预热的长期平均，或就看这一段时间。";

    // Lanes and reasons.
    chance_of_drop: "chance of drop", "拒绝概率";
    chance_of_drop_work: "chance of drop by seconds of work", "按积压秒数的拒绝概率";
    moved_up: "↑ {0}/s moved up", "↑ 提升 {0}/s";
    nobody_served: "no {0} served for {1}", "{0} 已 {1} 没有完成";
    legend_average: "▲ running average", "▲ 滑动平均";
    ahead_of_them: "ahead of them", "排在它们前面";
    why: "why?", "为何？";
    why_of: "Why: {0} at {1}", "为何：{1} 阶段的 {0}";
    why_chance: "{0} now", "当前 {0}";
    why_below: "The average, {0}, is below min, {1}: nobody is turned away.", "平均值 {0} 低于下限 {1}：无人被拒。";
    why_above: "The average, {0}, is beyond max, {1}: everybody is turned away.", "平均值 {0} 超过上限 {1}：全部拒绝。";
    why_present: "The work present is at its limit: everybody is turned away until it falls.", "当前积压已到门槛：降下来之前全部拒绝。";
    why_wait: "Wait {0}, wanted {1}: {2} are turned away.", "等待 {0}，目标 {1}：拒绝 {2}。";
    why_rate: "Lets in {0} a second; {1} are turned away.", "每秒放进 {0} 个；拒绝 {1}。";
    why_room: "{0} wait where {1} may.", "最多 {1} 个，现有 {0} 个在等。";
    why_average: "average", "平均";
    why_max_p: "max chance", "最大概率";
    why_source: "Source: {0}", "出处：{0}";

    // The controlled split.
    model_panel: "Identified model", "辨识模型";
    state_idle: "idle, not enforced", "空闲，未执行";
    state_learning: "learning", "学习中";
    state_steering: "steering", "调节中";
    state_stuck: "not feasible", "无法达到";
    state_fallback: "by its rule", "按备用规则";
    say_idle: "Below overload: next to nobody waits, so there is no ratio to enforce.", "未过载：几乎没有请求在等，也就没有比例可以执行。";
    say_learning: "Learning: it watches the waits and does not steer yet.", "学习中：只观察各类等待，尚未调节。";
    say_steering: "Steering: it moves workers until the waits are in proportion.", "调节中：移动工作线程，使各类等待保持目标比例。";
    say_stuck: "Not feasible: {0} already has its one worker and still waits less than its share.", "无法达到：{0} 只剩一个工作线程，等待仍低于应占的份额。";
    say_fallback: "By its rule: what it has learned is not credible, so it goes by the model it began with.", "按备用规则：学到的模型不可信，改用初始模型。";
    say_held: "By its rule: what it last saw makes no sense, so it holds the split as it is.", "按备用规则：最近的观测不合常理，暂时保持原有划分。";
    say_whole: "Whole workers leave the ratio ±{0}.", "工作线程只能整个移动，比例的误差约为 ±{0}。";
    say_moved: "{0} workers moved in {1} samples.", "{1} 次采样共移动 {0} 个工作线程。";
    say_finishing: "{0} finish what they have before they change class.", "{0} 个线程先做完手上的请求，再换到新的类。";
    say_margin: "The gain of {0} may be {1}× the model's before it swings.", "{0} 的实际增益达到模型的 {1} 倍时才会振荡。";
    row_wait: "wait / target", "等待 / 目标";
    row_workers: "workers", "线程";
    row_model: "model", "模型";
    row_gains: "gains", "增益";
    row_trust: "error / start", "误差 / 初始";
    row_uncertainty: "covariance", "协方差";
    row_bias: "bias", "偏差";
    model_learned: "learned", "学得";
    model_start: "start", "初始";
    model_help: "a: what the wait keeps of its last two changes. b: how it answers workers. Small: the model it began with. Error / start below 1: the learned model predicts better.", "a：等待保留最近两次变化的多少；b：等待对线程增减的反应；小字为初始模型。误差 / 初始小于 1，说明学得的模型预测更准。";
    flag_floor: "has its one worker", "只剩一个线程";
    flag_step: "last step was cut", "上一步已限幅";
    flag_estimate: "estimate pushed back into bounds", "估计值已拉回界内";
    flag_stale: "nobody handed over, its wait is from before", "本窗口无人出队，沿用先前的等待";
    flag_limited: "a deadline or ageing cuts its wait short", "期限或老化使等待提前结束";
    response_title: "Error after a disturbance", "扰动后的误差";
    response_model: "model in use", "所用模型";
    response_measured: "measured: {0} since {1}", "实测：{0}，自 {1} 起";
    legend_guest: "▣ finishes first, then changes class", "▣ 先做完，再换类";
    theory_split: "theory: {0}", "理论：{0}";
    fact_idle: "Below overload: there is no ratio to enforce.", "未过载：没有比例需要执行。";
    fact_stuck: "{0} already has its one worker and still waits less than its share.", "{0} 只剩一个工作线程，等待仍低于应占的份额。";
    fact_stuck_many: "{0} already have their one worker and still wait less than their share.", "{0} 只剩一个工作线程，等待仍低于应占的份额。";
    fact_fallback: "The split goes by its rule: its controller does not trust what it has.", "划分按备用规则进行：控制器不信任现有判断。";
    fact_limited: "A deadline or ageing cuts the wait of {0} short of its share.", "期限或老化使 {0} 的等待达不到应占的份额。";
    workers_controlled: "controlled split", "受控划分";
    begins_with: "begins with", "初始划分";
    split_by: "split by", "划分依据";
    split_fixed: "nothing", "不变";
    split_stc_lead: "self-tuning, lead", "自校正，按积压";
    split_stc_served: "self-tuning, served", "自校正，按等待";
    split_stc_paper: "self-tuning, paper", "自校正，论文";
    split_pid: "fixed PID", "固定增益 PID";
    split_pairwise_pi: "PI on pairs", "逐对 PI";
    split_pairwise_stc: "self-tuning pairs", "逐对自校正";
    split_feed_forward: "queueing model", "排队模型前馈";
    about_stc_lead: "Predicts each wait from the backlog, so it answers a change before anyone has waited through it. Recommended.", "由积压推算各类等待，变化尚未排到头就已作出反应。推荐使用。";
    about_stc_served: "Learns from the waits of those served. They come late: as late as the wait is long.", "根据已服务请求的等待学习；等待越长，反应越迟。";
    about_stc_paper: "One self-tuning PID a class on its share of the wait; all classes at once (paper P).", "每类一个自校正 PID，控制该类所占的等待份额，各类同时计算（论文 P）。";
    about_pid: "Gains that suit one load, and are kept at every other.", "增益按某一负载整定，负载变了也不变。";
    about_pairwise_pi: "Holds the ratio of each class to the next (Lu 2001).", "控制相邻两类的等待之比（Lu 2001）。";
    about_pairwise_stc: "The same ratios, each self-tuning, one after the other.", "同样的比值，各自校正，逐个计算。";
    about_feed_forward: "Computes the split for clients who think, and corrects it by the waits.", "按有思考时间的客户模型算出划分，再用实测等待修正。";
    prior: "assumed gain", "假定增益";
    prior_help: "By how much, in logarithms, a wait falls for each unit its workers grow.", "对数意义上，线程每增一单位，等待下降多少。";
    tune: "learns the gain", "学习增益";
    tune_help: "Used only where it predicts better than what was assumed.", "只在预测优于假定值时采用。";
    warm_up: "watches first", "先观察";
    windows: "windows", "个窗口";
    design: "controller by", "控制器设计";
    design_poles: "poles", "极点配置";
    design_variance: "least variance", "最小方差";
    pole: "closed-loop pole", "闭环极点";
    pole_help: "What is left of an error a period later.", "一个周期后误差剩下的部分。";
    forgetting: "forgetting", "遗忘因子";
    a_terms: "past outputs", "输出阶数";
    b_terms: "past inputs", "输入阶数";
    dead_time: "dead time", "滞后";
    gain: "gain", "增益";
    zero: "zero", "零点";
    trim: "correction", "修正增益";
    dither: "carries rounding over", "保留取整余量";
    dither_help: "A small pool then keeps the shares on average.", "线程少时，平均下来仍符合份额。";
    lend_after: "lends idle after", "空闲多久借出";
    lend_help: "0: never. Lending costs accuracy.", "0 表示不借。借出会降低比例精度。";
    policy_admission_window: "Admission window", "准入时窗";
    about_admission_window: "Opens the door for a part of each period, as long as the wanted waits allow.", "每个周期只开门一段时间，长短由目标等待决定。";
    wanted_of_one: "wait of target 1", "目标 1 的等待";

    // Servers and balancers.
    card_sessions: "{0} sessions", "{0} 会话";
    stands_warming: "warming up {0}", "预热 {0}";
    stands_draining: "draining", "排空中";
    stands_overloaded: "overloaded", "过载";
    stands_silent: "silent", "无上报";
    stands_ejected: "ejected", "已剔除";
    stands_gone: "removed", "已注销";
    legend_loads: "C M N D R: processors, memory, network, disk, rooms; pale: reports overdue", "C M N D R：处理器、内存、网络、磁盘、房间；变淡表示上报已过期";
    column_server: "Server", "服务器";
    column_state: "State", "状态";
    column_group: "Group", "组";
    column_in_flight: "In flight", "处理中";
    column_report: "Report age", "上报已过";
    column_loads: "Loads", "负载";
    stands_fit: "takes work", "正常";
    fact_left_out: "{0} gets nothing new: {1}.", "{0} 不再接新请求：{1}。";
    all_left_out: "No server takes anything new. New requests have to wait.", "没有服务器接新请求，新请求只能等待。";
    track_weight: "Server weight", "服务器权重";
    flag_neighbour: "neighbour takes {1} of {0}", "邻居占用 {0} 的 {1}";
    flag_neighbour_gone: "neighbour of {0} gone", "{0} 的邻居离开";
    flag_reports: "reports of {0}: {1}", "{0} 的上报：{1}";
    why_server: "Why this server?", "为何是这台？";
    pick_said: "At {0} a request of {1} went to {2}.", "{0}，一个 {1} 请求交给了 {2}。";
    pick_none: "No request has been given to a server yet.", "还没有请求交给服务器。";
    pick_unwritten: "This server does not write its picks down.", "该服务器没有记录选择过程。";
    pick_spared: "{0} came first and is still warming up, so most of its requests go to others.", "{0} 本应入选，但仍在预热，多数请求转给别的服务器。";
    pick_turn: "turn", "轮次";
    pick_more: "and {0} more", "另有 {0} 台";
    pick_help: "The smallest k is picked: what the formula says, or how many turns or places in the table it is away. Among servers of group 1, or with equal k, the largest turn decides, where there is one. The line is the weight so far.", "选 k 最小者：k 由公式算出，或是还差几轮、查找表中相隔几格。第 1 组内或 k 相等时，有轮次的取轮次最大者。曲线为至今的权重。";
    balance_simple: "Simple", "简单";
    balance_weight: "By weight", "按权重";
    balance_hash: "By hash", "按哈希";
    balance_latency: "By latency", "按时延";
    balance_feedback: "By reported load", "按上报负载";
    about_least: "Sends each request to the server with the fewest in flight. Hard to beat where servers are alike.", "交给手上请求最少的服务器。各台相同时，很难做得更好。";
    about_round: "Each server in turn, whatever it has to do.", "依次轮流，不看各台忙闲。";
    about_shortest: "Fewest in flight; a coin decides between equals.", "手上请求最少者；相同时随机。";
    about_power: "Draws a few servers at random and takes the emptiest: nearly as good as looking at all, and no two gateways crowd the same one.", "随机抽几台，取最空的一台：效果接近逐台比较，多个网关也不会挤向同一台。";
    about_weighted_least: "Fewest in flight for its weight: a server of weight 2 has twice as many.", "手上请求与权重之比最小者；权重为 2 的服务器承担两倍。";
    about_weighted_round: "In turn, as often as the weight says, evenly spread.", "按权重轮流，次序均匀错开。";
    about_random: "At random, as likely as the weight says.", "按权重随机。";
    about_consistent: "The same client (or target) always meets the same server; when one comes or goes, few of the others move.", "同一客户端（或目标）总在同一台；服务器增减时，其余很少变动。";
    about_source_hash: "The same client always meets the same server, through 256 buckets.", "同一客户端总在同一台，经 256 个桶映射。";
    about_target_hash: "The same target is always served by the same server, through 256 buckets. Good for caches.", "同一目标总由同一台服务，经 256 个桶映射，利于缓存。";
    about_least_time: "Smallest mean latency times requests in flight, for its weight.", "平均时延与手上请求数之积，除以权重，取最小。";
    about_peak: "Of two drawn at random, the smaller latency times requests in flight. A slow answer counts at once, a quick one little by little.", "随机抽两台，取时延与手上请求数之积较小者。变慢立即计入，变快逐步计入。";
    about_dnf: "Servers report their load; whoever is above the mean loses weight, whoever is below gains. One weight for short requests, one for sessions. Recommended where servers report.", "服务器上报负载：高于平均者减权，低于平均者加权；短请求和会话各用一个权重。有上报时推荐使用。";
    about_dnf_published: "Weights follow the cube root of the distance from a target load; the heaviest third takes turns (paper B).", "权重按与目标负载之差的立方根调整，最重的三分之一轮流接请求（论文 B）。";
    drawn: "drawn", "抽取台数";
    weights_from: "weights", "权重来源";
    weights_configured: "as configured", "按配置";
    weights_reported: "as reported", "按上报";
    hash_by: "hashes", "哈希对象";
    hash_source: "who asks", "客户端";
    hash_target: "what is asked", "目标";
    hash_table: "table", "查找表";
    hash_ring: "ring", "哈希环";
    hash_maglev: "Maglev", "Maglev 表";
    dead_band: "dead band", "死区";
    smoothing: "smoothing", "平滑";
    smoothing_help: "Part of the old load in the average.", "平均中旧负载所占的比例。";
    largest_step: "largest step", "最大步长";
    group_width: "group width", "组宽";
    weight_min: "least weight", "最小权重";
    weight_max: "largest weight", "最大权重";
    loads_short: "loads, short", "短请求看";
    loads_session: "loads, sessions", "会话看";
    loads_help: "The largest of these counts. None: processors and disk for short requests, network, rooms and memory for sessions.", "以其中最大者为准。不选时：短请求看处理器和磁盘，会话看网络、房间和内存。";
    load_target: "target load", "目标负载";
    target_mean: "target is the mean", "以平均为目标";
    target_mean_help: "In place of a fixed target.", "代替固定目标。";
    groups: "groups", "组数";
    group_by: "groups by", "分组依据";
    group_by_width: "equal width", "等宽";
    group_by_rank: "equal numbers", "等量";
    turns_weighted: "turns by weight", "按权重轮流";
    weight_initial: "begins with", "初始权重";
    initial_equal: "all alike", "全部相同";
    initial_weight: "weights", "配置权重";
    initial_capacity: "capacities", "容量";
    weight_base: "mean at first", "初始均值";
    least_change: "least change", "最小变化";
    damping: "damping", "阻尼";
    coefficients_help: "How much each load counts. They sum to 1: the others make room.", "各项负载的系数，总和为 1：改动一项，其余按比例让出。";
    feedback: "Reports and failures", "上报与故障";
    reports_expected: "reports", "上报";
    reports_if_needed: "if the balancer asks", "均衡器需要时";
    reports_always: "always", "始终";
    report_period: "report every", "上报周期";
    load_limit: "load limit", "负载上限";
    overload: "overloaded by", "过载看";
    overload_help: "None: all five under feedback as published; else memory, and rooms where there is nothing but sessions.", "不选时：原论文的反馈看全部五项；否则看内存，只有会话时也看房间。";
    load_limit_help: "One of these above it: nothing new, until all are below the next.", "其中任一项超过上限即不再接新请求，直到全部低于恢复线。";
    load_clear: "back below", "恢复线";
    silence: "silent after", "失联判定";
    eject_after: "failures in a row", "连续失败";
    never_at_zero: "0: never.", "0 表示不启用。";
    eject_for: "ejected for", "剔除时长";
    eject_most: "ejected at most", "剔除上限";
    panic_below: "panic below", "恐慌线";
    panic_help: "With fewer than this part left, everyone who answers is used.", "可用比例低于此值时，能连上的全部启用。";
    slow_start: "warm-up", "预热时长";
    server_weight: "weight", "权重";
    server_more: "Weight, discipline, capacities", "权重、工作方式、容量";
    discipline: "works", "工作方式";
    discipline_slots: "so many at once", "限定个数";
    discipline_sharing: "shares its cores", "共享核心";
    load_cpu: "processors", "处理器";
    load_mem: "memory", "内存";
    load_net: "network", "网络";
    load_disk: "disk", "磁盘";
    load_rooms: "rooms", "房间";
    capacity_help: "What it has of each, in the unit of the classes' demand; 0: enough.", "各项容量，单位与各类的占用相同；0 表示足够。";
    at_servers: "At the servers", "在服务器上";
    kind: "kind", "类型";
    kind_short: "short request", "短请求";
    kind_session: "session", "会话";
    demand_help: "What one request holds of its server while it is there.", "一个请求在服务器上占用的各项资源。";
    answer: "first answer", "首次应答";
    answer_help: "Of a session at an idle server; it grows as the server fills.", "会话在空闲服务器上的应答时间，随负载增长。";
    sources: "different clients", "客户端数";
    targets: "different targets", "目标数";
    event_flapping: "server flaps", "服务器反复掉线";
    event_neighbour: "noisy neighbour", "邻居争抢";
    event_reports: "load reports", "负载上报";
    flap_period: "every", "间隔";
    flap_times: "how often", "次数";
    neighbour: "takes", "占用";
    neighbour_help: "Share of the processors that others take; 0 when they are gone.", "同机其他进程占用的处理器份额，0 表示已离开。";
    reports: "reports are", "上报";
    reports_normal: "normal", "正常";
    reports_stuck: "stuck", "卡住不变";
    reports_lost: "lost", "丢失";

    // Findings.
    fact_starved_for: "No {0} served for {1}.", "{0} 已有 {1} 没有一个完成。";
    fact_wasted: "{0} of the time spent before {1} was for requests turned away there.", "{1} 之前花掉的时间有 {0} 白费：那些请求到这里才被拒绝。";
    fact_inverted: "Promotion turns the order around at {0}: {1} waits {2}, {3} {4}.", "{0} 的提升使次序颠倒：{1} 等待 {2}，{3} 只等 {4}。";
    fact_stop: "{0} cannot turn away more before max: its max chance is at the upper stop, {1}.", "{0} 的最大概率已到顶 {1}，在到达上限之前无法拒绝更多。";

    // Presets, Share, Run, keys.
    group_papers: "Three papers", "三篇论文";
    group_overload: "What overload looks like", "过载的样子";
    group_basics: "Basics", "基础";
    presets: "Pick something to overload", "挑一个来压垮";
    presets_about: "Every preset is a link. Change anything, then share your own.", "每个预设都是链接。随意修改，再分享你的版本。";
    open_file: "Open a file", "打开文件";
    open_file_about: "A scenario, a log or a trace. It is read in this browser and never uploaded.", "场景、日志或轨迹。只在本浏览器中读取，不会上传。";
    share_title: "The whole scenario is in the link", "整个场景都在链接里";
    share_about: "Policies, numbers, events and seed. Nothing is stored on a server.", "策略、参数、事件和种子。服务器上不存任何东西。";
    share_length: "{0} characters", "{0} 个字符";
    share_safe: "safe in chat up to 2,000", "聊天软件中 2,000 以内都安全";
    share_long: "may be cut in chat", "聊天软件可能截断";
    share_at: "Start at {0}", "从 {0} 开始";
    share_hash: "The link proves itself: it carries the hash of this run, {0}.", "链接可自证：带有本次运行的散列 {0}。";
    share_hash_wait: "Computing the hash of the whole run: {0}", "正在计算整个运行的散列：{0}";
    share_no_log: "The log itself is not in the link; whoever opens it needs the file.", "链接中不含日志本身，打开者需要该文件。";
    link: "Link", "链接";
    run_title: "Run this on a real server", "在真实服务器上运行";
    run_about: "The same policy code, now deciding about real requests.", "同一份策略代码，现在处理真实请求。";
    run_more: "Listens on 127.0.0.1:8080 and forwards to the addresses you name. Put your own servers in their place. Ctrl-C stops it. Then switch to Live to watch it here.", "监听 127.0.0.1:8080，转发到你指定的地址，请换成自己的服务器。Ctrl-C 停止。然后切到“实况”在这里观看。";
    watch_live: "Watch it live", "实况观看";
    keys_about: "Single-letter keys can be switched off here.", "可在此关闭单字母快捷键。";
    keys_letters: "Single-letter shortcuts", "单字母快捷键";
    keys_motion: "Reduced motion: nothing flies, figures step", "减少动态：标记不飞行，数字逐步更新";
    key_space: "Space", "空格";
    key_play: "Play or pause", "播放或暂停";
    key_step: "Step forward, back", "前进、后退一步";
    key_step_event: "One event of the calendar forward, back", "日历中前进、后退一个事件";
    key_decision: "To the next decision: turned away, picked, controlled", "到下一个决策：拒绝、选服务器、控制器动作";
    key_next_flag: "Next, previous planned event (Shift)", "下一个、上一个预定事件 (Shift)";
    key_arrows: "Move 1 s (Shift: 10 s)", "移动 1 秒 (Shift: 10 秒)";
    key_speed: "Slower, faster", "减速、加速";
    key_restart: "Back to start", "回到开头";
    key_seed: "New seed", "新种子";
    key_open: "Open a component", "打开组件";
    key_event: "Add an event here", "在此加事件";
    key_presets: "Presets", "预设";
    key_share: "Share", "分享";
    key_run: "Run on a real server", "在真实服务器上运行";
    key_live: "Live", "实况";
    key_focus: "Picture only", "只看画面";
    key_theme: "Light or dark", "浅色或深色";
    key_undo: "Undo, redo (Shift)", "撤销、重做 (Shift)";
    key_help: "This list", "本列表";

    // Live.
    live_address: "Server address", "服务器地址";
    connect: "Connect", "连接";
    disconnect: "Disconnect", "断开";
    live_on: "Connected", "已连接";
    live_waiting: "Connecting…", "正在连接……";
    live_off: "Not connected", "未连接";
    live_rate: "{0} snapshots a second, the last {1} ago. The picture only shows; it changes nothing on the server.", "每秒 {0} 个快照，最近一个在 {1} 前。画面只读，不会改动服务器。";
    live_hint: "The administration address of tidegate serve, or empty for the server this page came from.", "填 tidegate serve 的管理地址；留空则为本页所在的服务器。";
    live_lost: "The server stopped answering", "服务器没有回应";
    live_lost_about: "No snapshot from {0} for {1} s. Trying again every 2 s. The picture shows the last state received.", "{1} 秒没有收到 {0} 的快照，每 2 秒重试。画面为最后收到的状态。";
    live_refused: "{0} does not answer", "{0} 没有应答";
    live_refused_about: "Is tidegate serve running there, with its administration address open to this page? Trying again every 2 s.", "那里是否运行着 tidegate serve，且管理地址允许本页访问？每 2 秒重试。";
    live_foreign: "This server speaks another version", "服务器版本不同";
    live_foreign_about: "Its snapshots are laid out in a way this page does not know: {0}", "它的快照格式本页不认识：{0}";
    live_edit: "The editor belongs to Explore. In Live the server's own scenario is shown.", "编辑器属于“探索”。实况中显示服务器自己的场景。";
    try_now: "Try now", "立即重试";
    start_here: "The command that starts one", "启动命令";
    open_in_explore: "Open its scenario in Explore", "在“探索”中打开其场景";

    // States.
    loading: "Loading the simulator", "正在载入模拟器";
    loading_about: "Half a megabyte, once. After that Tidegate works offline, and nothing you do here leaves this browser.", "约半兆字节，仅此一次，之后断网也能用。你在这里做的一切都不会离开本浏览器。";
    empty: "No requests yet", "还没有请求";
    empty_about: "No class of clients sends anything. Raise a rate, and requests start arriving at the left.", "没有任何一类客户端在发送。调高速率，请求就会从左边到来。";
    raise_rate: "Send 20 a second", "每秒发送 20 个";
    pick_preset: "Pick a preset", "选择预设";
    damaged: "This link is damaged", "链接已损坏";
    damaged_about: "It may have been cut by a chat program. Ask for the link again, or start from a preset.", "可能被聊天软件截断。请重新索取，或从预设开始。";
    start_fresh: "Start fresh", "重新开始";
    newer: "This link needs a newer Tidegate", "链接需要更新的 Tidegate";
    newer_about: "“{0}” was made with version {1} of the scenario format. This page reads up to version {2}.", "“{0}”用场景格式第 {1} 版制作，本页最多读到第 {2} 版。";
    reload: "Reload the page", "重新载入";
    bad_scenario: "This scenario cannot run", "此场景无法运行";
    keep_last: "Keep the last one", "保留上一个";
    worker_broke: "The simulation stopped", "模拟已停止";
    worker_broke_about: "The worker reported: {0}", "后台报告：{0}";
    needs_log: "This scenario plays a log", "此场景回放日志";
    needs_log_about: "The link carries the policies, not the requests. Open or drop the log or trace it was made with.", "链接只带策略，不带请求。请打开或拖入当初使用的日志或轨迹。";
    heavy: "A heavy run", "运行量很大";
    heavy_about: "About {0} events. It opens paused; press play when you are ready.", "约 {0} 个事件。已暂停打开，准备好后请按播放。";
    play_it: "Play it", "播放";
    drop_here: "Drop a log, a trace or a scenario", "把日志、轨迹或场景拖到这里";
    drop_about: "Tidegate plays it through your policies. The file is read in this browser and never uploaded.", "Tidegate 用你的策略回放它。文件只在本浏览器中读取，不会上传。";
    reading: "Reading {0}…", "正在读取 {0}……";
    log_read: "{0} of {1} lines understood", "{1} 行中读懂 {0} 行";
    log_read_all: "All {0} lines understood", "{0} 行全部读懂";
    log_read_about: "{0}, {1} of traffic. {2}", "{0}，流量时长 {1}。{2}";
    log_timed: "It says how long each request took.", "其中记有每个请求的耗时。";
    log_untimed: "It does not say how long requests took; the classes' service times are used.", "其中没有耗时，采用各类的服务时间。";
    log_sized: "It does not say how long each request took; their sizes stand in for that.", "其中没有耗时，以响应大小代替。";
    log_line: "line {0}: {1}", "第 {0} 行：{1}";
    log_play: "Play it through these policies", "用当前策略回放";
    log_cancel: "Leave it", "放弃";
    log_bad: "{0}: not a log or trace we can read", "{0}：不是能读懂的日志或轨迹";
    log_unread: "{0} could not be read", "无法读取 {0}";
    log_bad_first: "Its first line:", "第一行：";
    log_classes: "Classes: {0}", "类：{0}";
    log_others: "and {0} more labels together", "另有 {0} 个标签合为一类";
    other_requests: "others", "其他";
    unknown_fields: "Kept, but not understood: {0}", "已保留但不认识：{0}";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings that are rightly the same in both languages, or in the other language on purpose.
    const SAME: &[&str] = &[
        "other_language",
        "switch_language",
        "per_second",
        "flag_load_of",
        "flag_service",
        "policy_red",
        "policy_wred",
        "policy_codel",
        "policy_pie",
        "at_most",
        "json",
        "toml",
    ];

    fn all() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
        [ALL, compare::ALL, handover::ALL, record::ALL, replay::ALL, text::ALL, tour::ALL]
            .into_iter()
            .flatten()
    }

    #[test]
    fn no_string_is_missing_or_left_in_english() {
        let chinese = |s: &str| s.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for (key, english, translated) in all() {
            assert!(!english.trim().is_empty() && !translated.trim().is_empty(), "{key} is empty");
            if !SAME.contains(key) {
                assert!(chinese(translated), "{key} has no Chinese: {translated}");
                assert!(!chinese(english), "{key} has Chinese in English: {english}");
            }
        }
    }

    #[test]
    fn both_languages_take_the_same_figures() {
        for (key, english, translated) in all() {
            for i in 0..6 {
                let slot = format!("{{{i}}}");
                // A language may leave out what it does not need, as Chinese does with plurals; never add.
                if translated.contains(&slot) {
                    assert!(english.contains(&slot), "{key}: {slot} only in Chinese");
                }
                if english.contains(&slot) {
                    assert!(translated.contains(&slot), "{key}: {slot} only in English");
                }
            }
        }
    }

    #[test]
    fn the_voice_is_calm() {
        for (key, english, translated) in all() {
            for banned in ["!", "please", "Please", "successfully", "！", "请您", "抱歉"] {
                assert!(!english.contains(banned) && !translated.contains(banned), "{key} says {banned}");
            }
        }
    }

    /// Text of the markup that is a name or a symbol in every language.
    const NAMES: &[&str] = &["Tidegate", "k"];

    /// String literals with letters where the markup shows or speaks them: `{"…"}`, and in attributes that are read out.
    fn written_out(source: &str) -> Vec<String> {
        let shown = source.split("{\"").skip(1);
        let shown = shown.filter_map(|rest| rest.split_once("\"}")).map(|(text, _)| text);
        let spoken = ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\"", "aria-valuetext=\""];
        let spoken = spoken.iter().flat_map(|start| source.split(start).skip(1));
        let spoken = spoken.filter_map(|rest| rest.split_once('"')).map(|(text, _)| text);
        let worded =
            |text: &&str| text.len() < 200 && text.chars().any(char::is_alphabetic) && !NAMES.contains(text);
        shown.chain(spoken).filter(worded).map(str::to_owned).collect()
    }

    #[test]
    fn every_word_of_the_markup_is_in_both_languages() {
        let views = concat!(env!("CARGO_MANIFEST_DIR"), "/src/view");
        let mut files = 0;
        for file in std::fs::read_dir(views).expect("the views") {
            let path = file.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("text");
            let markup = source.split("#[cfg(test)]").next().unwrap_or_default();
            let found = written_out(markup);
            assert!(found.is_empty(), "{} says {found:?}; it belongs into the words", path.display());
            files += 1;
        }
        assert!(files > 10, "{files} views");
    }

    #[test]
    fn text_outside_the_words_is_found() {
        assert_eq!(written_out("<b>{\"Hello\"}</b>{\" · \"}{w.word}"), ["Hello"]);
        assert_eq!(written_out("<p aria-label=\"Lane\" class=\"x\">"), ["Lane"]);
        assert!(written_out("aria-label={w.lane} {\"Tidegate\"} fill(\"{0}\")").is_empty());
    }

    #[test]
    fn figures_go_where_the_language_wants_them() {
        assert_eq!(fill("{1} after {0}", &["a", "b"]), "b after a");
        assert_eq!(Language::of("zh-CN"), Language::Chinese);
        assert_eq!(Language::of("fr"), Language::English);
    }
}
